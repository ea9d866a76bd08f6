import { expect, test } from 'vitest'
import { createLimiter, fixedWindow, tokenBucket } from '../index.ts'
import { fakeClock } from '../testing/index.ts'

const FIVE = fixedWindow({ limit: 5, window: '1m' })
const BUCKET = tokenBucket({ capacity: 5, refill: '1/m' })

interface Asked {
  limits: string[]
}

test('only the limits that are selected are asked, in that order and each once', () => {
  const keys: string[] = []
  const key = (name: string) => () => {
    keys.push(name)
    return 'everyone'
  }
  const limiter = createLimiter<Asked>({
    clock: fakeClock(),
    select: asked => asked.limits,
    limits: {
      a: { policy: FIVE, key: key('a') },
      b: { policy: FIVE, key: key('b') },
      c: { policy: FIVE, key: key('c') },
    },
  })
  expect(limiter.consume({ limits: ['c', 'a', 'c'] }).limits.map(({ name }) => name)).toEqual(['c', 'a'])
  expect(keys).toEqual(['c', 'a'])
  expect(limiter.peek({ limits: ['a', 'b', 'c'] }).limits.map(({ remaining }) => remaining)).toEqual([4, 5, 4])
})

test('nor where every limit could go the fast way', () => {
  const limiter = createLimiter<Asked>({
    clock: fakeClock(),
    select: asked => asked.limits,
    limits: { a: { policy: BUCKET, key: () => 'k' }, b: { policy: BUCKET, key: () => 'k' } },
  })
  expect(limiter.consume({ limits: ['b'] }).limits.map(({ name }) => name)).toEqual(['b'])
})

test('selecting none is to be unlimited, and a name that is none is a mistake', () => {
  const limiter = createLimiter<Asked>({ select: asked => asked.limits, limits: { a: { policy: FIVE } } })
  expect(limiter.consume({ limits: [] }).limits).toEqual([])
  expect(() => limiter.consume({ limits: ['z'] })).toThrow('SLUICE_UNKNOWN_LIMIT')
  expect(() => createLimiter<Asked>({ select: 'a' as never, limits: { a: { policy: FIVE } } })).toThrow(
    'expected select as a function',
  )
})
