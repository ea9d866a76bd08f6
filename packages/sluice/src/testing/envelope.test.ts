import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Policy } from '../policy.ts'
import { type Admitted, envelopeViolation } from './envelope.ts'
import { oracleFor } from './oracle/oracle.ts'
import { replay } from './oracle/replay.ts'
import { random, randomPolicy, randomTrace } from './trace.ts'

const PHASE = { phase: 337 }

test('what the oracle admits and does not take back stays inside the envelope', () => {
  fc.assert(
    fc.property(fc.integer(), seed => {
      const rng = random(seed)
      const policy = randomPolicy(rng)
      // Credits and resets give more on purpose. They become looks, so that the numbers of refunded steps stay true.
      const trace = randomTrace(rng, policy, 150, { backwards: rng() < 0.3, ...PHASE }).map(step =>
        step.op === 'credit' || step.op === 'reset' ? { ...step, op: 'peek' as const } : step,
      )
      const { admissions } = replay(oracleFor(policy, PHASE), trace)
      expect(envelopeViolation(policy, admissions, PHASE)).toBeUndefined()
    }),
    { numRuns: 500 },
  )
})

test('the bucket check finds what comparing every pair finds', () => {
  const policy: Policy = { kind: 'gcra', burst: 3, rate: { count: 2, periodMs: 0.007 } }
  const admission = fc.record({ gap: fc.nat(8), cost: fc.nat(3) })
  const agree = fc.property(fc.array(admission, { maxLength: 12 }), list => {
    let at = 0
    const admissions = list.map(({ gap, cost }) => {
      at += gap
      return { at, cost }
    })
    const badPair = admissions.some((first, i) =>
      admissions.some((last, j) => {
        const sum = admissions.slice(i, j + 1).reduce((total, { cost }) => total + cost, 0)
        return i <= j && sum * 7 > 3 * 7 + 2 * (last.at - first.at)
      }),
    )
    expect(envelopeViolation(policy, admissions) !== undefined).toBe(badPair)
  })
  fc.assert(agree, { numRuns: 1000 })
})

describe('a planted excess is named', () => {
  const ms = (...list: [atMs: number, cost: number][]): Admitted[] =>
    list.map(([at, cost]) => ({ at: at * 1000, cost }))
  const bucket: Policy = { kind: 'tokenBucket', capacity: 5, refill: { count: 2, periodMs: 1000 } }
  const window = { windowMs: 1000, limit: 5 }
  const first: Policy = { kind: 'fixedWindow', align: 'first', ...window }
  const day: Policy = { kind: 'fixedWindow', align: 'day', timeZone: 'America/New_York', limit: 5, windowMs: 0 }
  const [noonMs, midnightMs] = [Date.UTC(2026, 2, 8, 12), Date.UTC(2026, 2, 9, 4)]
  const cases: [name: string, policy: Policy, good: Admitted[], bad: Admitted[], message: string][] = [
    [
      'bucket',
      bucket,
      ms([0, 4], [1000, 3], [1500, 1]),
      ms([0, 4], [1000, 3], [1499.999, 1]),
      '8 in [0, 1499999], over 5 + 2.999998 refilled',
    ],
    ['bucket, at once', bucket, ms([9, 5]), ms([9, 6]), '6 in [9000, 9000], over 5 + 0 refilled'],
    [
      'log',
      { kind: 'slidingLog', ...window },
      ms([0, 3], [1, 2], [1000, 3]),
      ms([0, 3], [1, 2], [999.999, 1]),
      '6 in [0, 999999], over 5 in [t, t + 1000000)',
    ],
    [
      'window from the epoch',
      { kind: 'fixedWindow', align: 'epoch', ...window },
      ms([999.999, 5], [1000, 5]),
      ms([1000, 5], [1999.999, 1]),
      '6 in the window [1000000, 2000000), over 5',
    ],
    [
      'window of a key',
      { kind: 'fixedWindow', align: 'key', ...window },
      ms([1000.336, 5], [1000.337, 5]),
      ms([0.336, 1], [0.337, 5], [1000, 1]),
      '6 in the window [337, 1000337), over 5',
    ],
    [
      'window from first use',
      first,
      ms([0, 1], [999, 4], [1000, 5], [2000, 5]),
      ms([0, 1], [999, 4], [1000, 5], [1998.999, 2]),
      '11 in [999000, 1998999], over 10 in [t, t + 1000000)',
    ],
    [
      'day of 23 hours',
      day,
      ms([noonMs, 5], [midnightMs, 5]),
      ms([noonMs, 5], [midnightMs - 1, 1]),
      `6 in the window [${Date.UTC(2026, 2, 8, 5)}000, ${midnightMs}000), over 5`,
    ],
    [
      'sliding window of 4, the law',
      { kind: 'slidingWindow', buckets: 4, ...window },
      ms([249.999, 5], [1000, 5]),
      ms([249, 3], [999, 3]),
      '6 in [249000, 999000], over 5 in [t, t + 750000]',
    ],
    [
      'sliding window of 4, whole sub-windows',
      { kind: 'slidingWindow', buckets: 4, ...window },
      ms([249, 5], [1249, 5]),
      ms([0, 3], [999, 3]),
      '6 in the window [0, 1000000), over 5',
    ],
    [
      'sliding window of 1',
      { kind: 'slidingWindow', buckets: 1, ...window },
      ms([999, 5], [1998, 5]),
      ms([999, 5], [1000, 2], [1500, 4]),
      '11 in [999000, 1500000], over 10 in [t, t + 1000000)',
    ],
  ]
  for (const [name, policy, good, bad, message] of cases) {
    test(name, () => {
      expect(envelopeViolation(policy, good, PHASE)).toBeUndefined()
      expect(envelopeViolation(policy, bad, PHASE)).toBe(message)
    })
  }
  test('out of order', () =>
    expect(envelopeViolation(bucket, ms([2, 1], [1, 1]))).toBe(
      'admission 1 at 1000 is earlier than the one before it at 2000',
    ))
})
