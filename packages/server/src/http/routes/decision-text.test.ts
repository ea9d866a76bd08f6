import fc from 'fast-check'
import type { DecisionJson } from 'sluice'
import { expect, test } from 'vitest'
import { textOf } from './decision-text.ts'

type Degraded = DecisionJson['degraded']

/** What a store answers: whole microseconds, since an epoch or for a while. And what none should. */
const time = fc.oneof(
  fc.integer({ min: 0, max: 4e15 }).map(ticks => ticks / 1000),
  fc.integer({ min: 0, max: 100_000_000 }).map(ticks => ticks / 1000),
  fc.constantFrom(0, 0.001, 0.01, 0.1, 0.999, 999.999, 1000.001, 1.7e12 + 0.5, 2 ** 31, 2 ** 31 * 1000 + 0.25, 1e21),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)
const count = fc.oneof(fc.nat(), fc.integer({ min: 0, max: 2 ** 53 }))
const name = fc.oneof(fc.string(), fc.constantFrom('per-ip', 'a"b', 'a\\b', '\u2028', '\ud800', ''))
const orNull = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null })

const state = fc.record({
  name,
  allowed: fc.boolean(),
  limit: count,
  remaining: count,
  resetAt: time,
  resetAfterMs: time,
  retryAfterMs: orNull(time),
  shadow: fc.boolean(),
  cached: fc.boolean(),
})
const decision: fc.Arbitrary<DecisionJson> = fc.record({
  allowed: fc.boolean(),
  reason: fc.constantFrom('ok', 'limited', 'cost-exceeds-limit', 'blocked', 'outage'),
  policy: name,
  limit: orNull(count),
  remaining: orNull(count),
  at: time,
  resetAt: time,
  resetAfterMs: time,
  retryAfterMs: orNull(time),
  degraded: fc.constantFrom<Degraded[]>(false, 'open', 'local', 'closed'),
  limits: fc.array(state, { maxLength: 4 }),
})

test('a decision is written as JSON.stringify writes it', () => {
  fc.assert(
    fc.property(decision, decided => {
      expect(textOf(decided)).toBe(JSON.stringify(decided))
    }),
    { numRuns: 5000 },
  )
})
