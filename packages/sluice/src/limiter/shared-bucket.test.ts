import { expect, test } from 'vitest'
import { createLimiter, fixedWindow, memoryStore, tokenBucket } from '../index.ts'
import { fakeClock } from '../testing/index.ts'

const FIVE = fixedWindow({ limit: 5, window: '1m' })

interface Asked {
  route: string
}

const on = (route: string) => (asked: Asked) => (asked.route === route ? 'everyone' : undefined)

test('limits that name the same bucket count together', () => {
  const limiter = createLimiter<Asked>({
    clock: fakeClock(),
    limits: {
      read: { policy: FIVE, key: on('/read'), bucket: 'messages' },
      write: { policy: FIVE, key: on('/write'), bucket: 'messages' },
    },
  })
  for (let n = 0; n < 5; n++) expect(limiter.consume({ route: n % 2 ? '/read' : '/write' }).allowed).toBe(true)
  expect(limiter.consume({ route: '/read' })).toMatchObject({ allowed: false, policy: 'read' })
  expect(limiter.consume({ route: '/write' })).toMatchObject({ allowed: false, policy: 'write' })
})

test('a request to which several limits of one bucket apply is counted once', () => {
  const limiter = createLimiter<object>({
    clock: fakeClock(),
    limits: { a: { policy: FIVE, bucket: 'one' }, b: { policy: FIVE, bucket: 'one' } },
  })
  expect(limiter.consume({}).limits.map(({ name, remaining }) => [name, remaining])).toEqual([['a', 4]])
  limiter.refund({}, { cost: 1 })
  expect(limiter.peek({}).remaining).toBe(5)
})

test('limiters of one name in one store share a bucket too', () => {
  const store = memoryStore({ clock: fakeClock() })
  const limit = { policy: tokenBucket({ capacity: 5, refill: '1/s' }), bucket: 'one' }
  const [first, second] = [
    createLimiter<object>({ name: 'api', store, limits: { first: limit } }),
    createLimiter<object>({ name: 'api', store, limits: { second: limit } }),
  ]
  first.consume({}, { cost: 3 })
  expect(second.peek({}).remaining).toBe(2)
})

test('a bucket is not the limit that happens to have its name', () => {
  const limiter = createLimiter<object>({
    clock: fakeClock(),
    limits: { a: { policy: FIVE, bucket: 'b' }, b: { policy: FIVE } },
  })
  limiter.consume({})
  expect(limiter.peek({}).limits.map(({ remaining }) => remaining)).toEqual([4, 4])
})

test('a bucket needs a name', () => {
  expect(() => createLimiter<object>({ limits: { a: { policy: FIVE, bucket: '' } } })).toThrow(
    "expected limit 'a' bucket as a name, got ''",
  )
})
