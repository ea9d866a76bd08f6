import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type FakeRequest, factsOf } from './fixtures/fake-exchange.ts'
import { all, type Identity, ip, route, user } from './index.ts'

const keyOf = (identity: Identity, request: FakeRequest) => identity.keyOf(factsOf(request))
const everything = () => all(ip(), route(), user())

const request = fc.record({
  from: fc.constantFrom('192.0.2.1', '192.0.2.2', '192.0.2.3'),
  route: fc.constantFrom('/a', '/b', '/ab', undefined),
  user: fc.constantFrom(undefined, { id: 'ann' }, { id: 'bob' }),
})

test('whoever asked before for whatever, a key is the one that nobody before would have had', () => {
  fc.assert(
    fc.property(fc.array(request, { minLength: 2 }), requests => {
      const kept = everything()
      for (const one of requests) expect(keyOf(kept, one)).toBe(keyOf(everything(), one))
    }),
  )
})

test('more callers and routes than are kept', () => {
  const kept = all(ip(), route())
  const keys = new Set<string>()
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 3000; i++) keys.add(keyOf(kept, { from: `10.0.${i >> 8}.${i & 255}`, route: `/${i}` }))
  }
  expect(keys.size).toBe(3000)
})

test('a part that throws leaves nothing behind in the next key', () => {
  const kept = all(
    ip(),
    user(r => {
      if (r.broken) throw new Error('on purpose')
      return 'ann'
    }),
  )
  const first = keyOf(kept, { from: '192.0.2.1' })
  expect(() => keyOf(kept, { from: '192.0.2.2', broken: true })).toThrow('on purpose')
  expect(keyOf(kept, { from: '192.0.2.1' })).toBe(first)
  expect(keyOf(kept, { from: '192.0.2.2' })).not.toBe(first)
})

test('a part that asks for the key of another request changes nothing about its own', () => {
  const kept: Identity = all(
    ip(),
    user(r => {
      if (r.asks) keyOf(kept, { from: '192.0.2.9' })
      return 'ann'
    }),
    route(),
  )
  const request = { from: '192.0.2.1', route: '/a' }
  const asking = keyOf(kept, { ...request, asks: true })
  expect(asking).toBe(keyOf(kept, request))
  expect(asking).toContain('192.0.2.1')
})
