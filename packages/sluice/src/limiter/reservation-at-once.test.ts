import { describe, expect, test } from 'vitest'
import { fiveOfEach } from '../fixtures/limiter/five-of-each.ts'
import { codeOf } from '../fixtures/limiter/misuse.ts'
import { createLimiter, fixedWindow } from '../index.ts'
import { fakeClock } from '../testing/index.ts'

const HELD = fixedWindow({ limit: 100, window: '1h' })
const key = (caller: string) => caller
const kinds = fiveOfEach.filter(({ kind }) => kind !== 'concurrency')

describe.each(kinds)('a limit that is taken at once: $kind', policy => {
  const world = () => {
    const clock = fakeClock(100_000)
    const limits = { calls: { policy, key, atOnce: true }, tokens: { policy: HELD, key } }
    return { clock, limiter: createLimiter<string>({ clock, limits }) }
  }
  const calls = ({ limiter }: ReturnType<typeof world>) => limiter.peek('a').limits[0]!

  test('is after a reservation as it would be after consume', () => {
    const [reserved, consumed] = [world(), world()]
    reserved.limiter.reserve('a', { cost: 1, ttl: '15m' })
    consumed.limiter.consume('a')
    for (const ms of [0, 400, 1600, 3000]) {
      reserved.clock.advance(ms)
      consumed.clock.advance(ms)
      expect(calls(reserved)).toEqual(calls(consumed))
    }
  })

  test('is not settled, and comes back when the reservation is cancelled', () => {
    const one = world()
    one.limiter.reserve('a', { cost: 1, ttl: '15m' }).settle({ tokens: 40 })
    expect(calls(one).remaining).toBe(4)
    one.limiter.reserve('a', { cost: 1, ttl: '15m' }).cancel()
    expect(one.limiter.peek('a').limits.map(({ remaining }) => remaining)).toEqual([4, 60])
  })
})

test('atOnce is true or false', () => {
  const make = () => createLimiter<string>({ limits: { a: { policy: HELD, key, atOnce: 'yes' as never } } })
  expect(codeOf(make)).toBe('SLUICE_BAD_OPTION')
})
