import { expect, test } from 'vitest'
import { createLimiter, fixedWindow, type LimitOptions } from '../index.ts'
import { fakeClock } from '../testing/index.ts'

interface Call {
  tokens: number
}

const policy = fixedWindow({ limit: 100, window: '1m' })

const table: [what: string, own: LimitOptions<Call>['cost'], call: number | undefined, taken: number][] = [
  ['1 where nobody says', undefined, undefined, 1],
  ["the call's", undefined, 5, 5],
  ["the limit's own", 3, undefined, 3],
  ["the limit's own, whatever the call says", 3, 5, 3],
  ["the limit's own function of the subject", call => call.tokens, undefined, 40],
  ["the limit's own function, whatever the call says", call => call.tokens, 5, 40],
  ['nothing where the call only looks', undefined, 0, 0],
  ['nothing where the limit only looks', 0, 5, 0],
  ['everything there is', undefined, 100, 100],
]

test.each(table)('a request costs %s', (_, own, call, taken) => {
  const limit: LimitOptions<Call> = own === undefined ? { policy } : { policy, cost: own }
  const limiter = createLimiter<Call>({ clock: fakeClock(), limits: { limit } })
  const decision = limiter.consume({ tokens: 40 }, call === undefined ? undefined : { cost: call })
  expect(decision).toMatchObject({ allowed: true, remaining: 100 - taken })
})

test('one call costs each limit its own: requests by one, tokens by what the call says', () => {
  const limiter = createLimiter<Call>({
    clock: fakeClock(),
    limits: { requests: { policy, cost: 1 }, tokens: { policy }, double: { policy, cost: call => 2 * call.tokens } },
  })
  const { limits } = limiter.consume({ tokens: 9 }, { cost: 30 })
  expect(limits.map(({ name, remaining }) => [name, remaining])).toEqual([
    ['requests', 99],
    ['tokens', 70],
    ['double', 82],
  ])
})

test('remaining is exact: so much passes now, one more does not', () => {
  const clock = fakeClock()
  const limiter = createLimiter(policy, { clock })
  const { remaining } = limiter.consume('a', { cost: 37 })
  expect(limiter.peek('a', { cost: remaining + 1 }).allowed).toBe(false)
  expect(limiter.consume('a', { cost: remaining })).toMatchObject({ allowed: true, remaining: 0 })
})

test('a limit of 0 is legal and refuses everything but a look', () => {
  const limiter = createLimiter(fixedWindow({ limit: 0, window: '1m' }), { clock: fakeClock() })
  expect(limiter.consume('a')).toMatchObject({ allowed: false, limit: 0, remaining: 0, retryAfterMs: Infinity })
  expect(limiter.consume('a', { cost: 0 }).allowed).toBe(true)
})

test('a cost of 0 passes a full limit and leaves it as it is', () => {
  const limiter = createLimiter(fixedWindow({ limit: 1, window: '1m' }), { clock: fakeClock() })
  limiter.consume('a')
  expect(limiter.consume('a', { cost: 0 })).toMatchObject({ allowed: true, remaining: 0 })
})
