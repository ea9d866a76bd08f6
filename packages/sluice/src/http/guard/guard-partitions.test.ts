import { expect, test } from 'vitest'
import { listOf } from '../../fixtures/headers/read-back.ts'
import { ask, type FakeRequest, headersOf } from '../../fixtures/http/fake-exchange.ts'
import { codeOf } from '../../fixtures/limiter/misuse.ts'
import { createGuard, ip, user } from '../index.ts'

const SECRET = 'a secret of the site'

/** The `pk` of both fields. */
function partitions(request: FakeRequest, partitionSecret: string | undefined = SECRET): unknown[] {
  const limits = { caller: { policy: '9/m', key: user() }, address: { policy: '9/m', key: ip() } } as const
  const guard = createGuard({ limits, ...(partitionSecret !== '' && { partitionSecret }) })
  const headers = headersOf(ask(guard, request))
  const [one, other] = ['RateLimit', 'RateLimit-Policy'].map(name => listOf(headers[name]).map(([, { pk }]) => pk))
  expect(one).toEqual(other)
  return one!
}

test('pk tells the keys of a limit apart, says nothing about them, and is sent on request only', () => {
  const [ann, home] = partitions({ user: { id: 'ann' } })
  expect(partitions({ user: { id: 'ann' } })).toEqual([ann, home])
  expect(Buffer.from(String(ann), 'base64').length).toBe(12)
  expect(new Set([ann, home, ...partitions({ user: { id: 'bob' } })]).size).toBe(3)
  expect(partitions({ user: { id: 'ann' } }, 'another secret of a site')).not.toContain(ann)
  expect(partitions({}, '')).toEqual([undefined, undefined])
})

test('a secret that can be guessed is refused, and not shown', () => {
  const make = () => createGuard({ policy: '9/m', partitionSecret: 'secret' })
  expect(codeOf(make)).toBe('SLUICE_BAD_OPTION')
  expect(make).toThrow("of 16 characters or more, got '6 characters'")
})
