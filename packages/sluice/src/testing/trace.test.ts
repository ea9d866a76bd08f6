import { describe, expect, test } from 'vitest'
import { oracleFor } from './oracle/oracle.ts'
import { replay } from './oracle/replay.ts'
import { random, randomPolicy, randomTrace } from './trace.ts'

const samples = Array.from({ length: 400 }, (_, seed) => {
  const rng = random(seed)
  const policy = randomPolicy(rng)
  return { policy, trace: randomTrace(rng, policy, 60) }
})

test('mulberry32 gives the numbers it is known by', () => {
  const rng = random(0)
  expect([rng(), rng(), rng()].map(n => n * 2 ** 32)).toEqual([1144304738, 1416247, 958946056])
})

describe('random policies', () => {
  test('are of every kind and every alignment', () => {
    expect(new Set(samples.map(({ policy }) => policy.kind)).size).toBe(7)
    expect(new Set(samples.map(({ policy }) => (policy.kind === 'fixedWindow' ? policy.align : ''))).size).toBe(7)
  })
  test('are of the kind that was asked for', () => expect(randomPolicy(random(1), 'gcra').kind).toBe('gcra'))
})

describe('random traces', () => {
  test('are the same for the same seed', () => {
    const again = random(7)
    expect(randomTrace(again, randomPolicy(again), 60)).toEqual(samples[7]!.trace)
  })
  test('do every operation, admit and refuse, start today and at the epoch', () => {
    expect(new Set(samples.flatMap(({ trace }) => trace.map(step => step.op))).size).toBe(5)
    const verdicts = samples.flatMap(({ policy, trace }) => replay(oracleFor(policy), trace).verdicts)
    const refused = verdicts.filter(verdict => verdict?.allowed === false).length
    expect(refused / verdicts.length).toBeGreaterThan(0.2)
    expect(refused / verdicts.length).toBeLessThan(0.6)
    expect(samples.some(({ trace }) => trace[0]!.at < 1e15)).toBe(true)
    expect(samples.some(({ trace }) => trace[0]!.at >= 1.79e15)).toBe(true)
  })
  test('move in whole ticks, and backwards only when asked to', () => {
    const backwards = (trace: readonly { at: number }[]) => trace.some((step, i) => step.at < (trace[i - 1]?.at ?? 0))
    for (const { trace } of samples) {
      expect(trace.every(step => Number.isSafeInteger(step.at) && Number.isSafeInteger(step.cost))).toBe(true)
      expect(backwards(trace)).toBe(false)
    }
    const rng = random(3)
    expect(backwards(randomTrace(rng, randomPolicy(rng), 100, { backwards: true }))).toBe(true)
  })
  test('refund an earlier charge, once, with its cost, and none from before a reset', () => {
    for (const { trace } of samples) {
      const refunds = trace.flatMap((step, index) => (step.op === 'refund' ? [{ ...step, index }] : []))
      expect(new Set(refunds.map(({ of }) => of)).size).toBe(refunds.length)
      for (const { of, cost, index } of refunds) {
        expect(trace[of!]).toMatchObject({ op: 'consume', cost })
        expect(trace.slice(of, index).some(step => step.op === 'reset')).toBe(false)
      }
    }
  })
})
