import { describe, expect, test } from 'vitest'
import { ask, headersOf, leftIn } from '../../fixtures/http/fake-exchange.ts'
import { fixedWindow, memoryStore } from '../../index.ts'
import { fakeClock } from '../../testing/index.ts'
import { createGuard, type GuardLimit, ip, route } from '../index.ts'

const of = (limit: number) => fixedWindow({ limit, window: '1m' })

describe('a bucket that several name', () => {
  const shared = (when: string): GuardLimit => ({
    policy: of(3),
    key: ip(),
    bucket: 'mail',
    when: r => r.route === when,
  })

  test('counts them together, with one opaque id', () => {
    const guard = createGuard({
      limits: { read: shared('/read'), write: shared('/write'), other: { policy: of(9), key: route() } },
      headers: 'x-bucket',
      clock: fakeClock(),
    })
    const read = headersOf(ask(guard, { route: '/read' }))
    const write = headersOf(ask(guard, { route: '/write' }))
    expect([read['X-RateLimit-Remaining'], write['X-RateLimit-Remaining']]).toEqual(['2', '1'])
    expect(read['X-RateLimit-Bucket']).toBe(write['X-RateLimit-Bucket'])
    expect(read['X-RateLimit-Bucket']).toMatch(/^[0-9a-f]{16}$/)
    expect(headersOf(ask(guard, { route: '/else' }))['X-RateLimit-Bucket']).not.toBe(read['X-RateLimit-Bucket'])
  })

  test('is not the limit that happens to have its name', () => {
    const guard = createGuard({
      limits: {
        a: { policy: of(3), key: ip(), bucket: 'b', when: r => r.route === '/a' },
        b: { policy: of(3), key: ip(), when: r => r.route === '/b' },
      },
      headers: 'x-bucket',
      clock: fakeClock(),
    })
    const [a, b] = ['/a', '/b'].map(route => headersOf(ask(guard, { route })))
    expect([a!['X-RateLimit-Remaining'], b!['X-RateLimit-Remaining']]).toEqual(['2', '2'])
    expect(a!['X-RateLimit-Bucket']).not.toBe(b!['X-RateLimit-Bucket'])
  })

  test('has another id in another application, and the same in another process', () => {
    const idIn = (name: string) => {
      const guard = createGuard({ name, policy: of(3), bucket: 'mail', headers: 'x-bucket', clock: fakeClock() })
      return headersOf(ask(guard))['X-RateLimit-Bucket']
    }
    expect(idIn('a')).toBe(idIn('a'))
    expect(idIn('a')).not.toBe(idIn('b'))
  })
})

test('guards of one name over one store count together', () => {
  const store = memoryStore({ clock: fakeClock() })
  const [one, other] = [createGuard({ policy: of(3), store }), createGuard({ policy: of(3), store })]
  ask(one)
  expect(leftIn(ask(other))).toEqual({ default: 1 })
})
