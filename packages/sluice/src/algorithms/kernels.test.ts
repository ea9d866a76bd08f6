import { describe, test } from 'vitest'
import { policyOf } from '../policy.ts'
import { type AlgorithmKey, algorithmSuite } from '../testing/algorithm-suite.ts'
import { type OracleVerdict, oracleFor } from '../testing/oracle/oracle.ts'
import { KINDS } from '../testing/trace.ts'
import * as bucket from './bucket.ts'
import * as concurrency from './concurrency.ts'
import * as fixed from './fixed-window.ts'
import { ruleOf } from './rule.ts'
import * as log from './sliding-log.ts'
import * as sliding from './sliding-window.ts'
import { remainingOf, type Units, type Verdict } from './verdict.ts'

/** A kernel and the state of one key, held here and nowhere else. */
interface Kernel {
  decide(at: number, cost: number, out: Verdict): void
  take(at: number, cost: number): void
  describe(at: number, out: Verdict): void
  refund?: NonNullable<AlgorithmKey['refund']>
  credit?: NonNullable<AlgorithmKey['credit']>
  release?: NonNullable<AlgorithmKey['release']>
}

function deciderOf({ decide, take, describe, ...changes }: Kernel, units: Units): AlgorithmKey {
  const ask = (at: number, cost: number, takes: boolean): OracleVerdict => {
    const out: Verdict = { allowed: false, used: 0, resetAt: 0, retryAt: 0 }
    decide(at, cost, out)
    if (takes && out.allowed) take(at, cost)
    describe(at, out)
    const { allowed, used, resetAt, retryAt } = out
    return { allowed, remaining: remainingOf(used, units), resetAt, retryAt }
  }
  return { consume: (at, cost) => ask(at, cost, true), peek: (at, cost) => ask(at, cost, false), ...changes }
}

function bucketKernel(rule: bucket.BucketRule): Kernel {
  let level = 0
  let levelAt = 0
  const now = (at: number): number => bucket.drained(level, levelAt, rule, at)
  const set = (at: number, units: number): void => {
    level = units
    levelAt = at
  }
  return {
    decide: (at, cost, out) => bucket.decide(now(at), rule, at, cost, out),
    take: (at, cost) => set(at, bucket.add(now(at), rule, cost)),
    describe: (at, out) => bucket.describe(now(at), rule, at, out),
    refund: (at, cost, chargedAt) => set(at, bucket.refunded(now(at), rule, at, cost, chargedAt)),
    credit: (at, cost) => set(at, bucket.credited(now(at), rule, cost)),
  }
}

function fixedKernel(rule: fixed.FixedRule, phase: number): Kernel {
  let count = 0
  let endAt = 0
  const seen = (at: number): [number, number] => (at < endAt ? [count, endAt] : [0, rule.endAfter(at, phase)])
  return {
    decide: (at, cost, out) => fixed.decide(...seen(at), rule, cost, out),
    take(at, cost) {
      if (cost === 0) return
      ;[count, endAt] = seen(at)
      count += cost
    },
    describe: (at, out) => fixed.describe(...seen(at), at, out),
    refund(at, cost, chargedAt) {
      if (at < endAt && fixed.sameWindow(endAt, rule, chargedAt, phase)) count = Math.max(0, count - cost)
    },
    credit(at, cost) {
      if (at < endAt) count = Math.max(0, count - cost)
    },
  }
}

function slidingKernel(rule: sliding.SlidingRule): Kernel {
  const cells = new Array<number>(sliding.cellCount(rule)).fill(0)
  return {
    decide: (at, cost, out) => sliding.decide(sliding.used(cells, 0, rule, at), cells, 0, rule, at, cost, out),
    take: (at, cost) => sliding.add(cells, 0, rule, at, cost),
    describe: (at, out) => sliding.describe(sliding.used(cells, 0, rule, at), cells, 0, rule, at, out),
    refund: (_, cost, chargedAt) => sliding.refund(cells, 0, rule, cost, chargedAt),
    credit: (_, cost) => sliding.credit(cells, 0, rule, cost),
  }
}

function logKernel(rule: log.LogRule): Kernel {
  const ring = new log.Ring()
  return {
    decide(at, cost, out) {
      log.expire(ring, rule, at)
      log.decide(ring, rule, cost, out)
    },
    take: (at, cost) => ring.push(at, cost, rule.limit),
    describe: (at, out) => log.describe(ring, rule, at, out),
    refund(at, cost, chargedAt) {
      log.expire(ring, rule, at)
      log.refund(ring, rule, at, cost, chargedAt)
    },
    credit(at, cost) {
      log.expire(ring, rule, at)
      ring.dropOldest(Math.min(cost, ring.count))
    },
  }
}

function slotsKernel(rule: concurrency.SlotsRule): Kernel {
  const slots = new concurrency.Slots()
  const holders: concurrency.Holder[] = []
  return {
    decide(at, cost, out) {
      slots.expire(at)
      concurrency.decide(slots, rule, cost, out)
    },
    take: (at, cost) => void holders.push(slots.acquire(cost, at + (cost > 0 ? rule.ttlTicks : 0))),
    describe: (at, out) => concurrency.describe(slots, at, out),
    release(at, acquisition) {
      slots.expire(at)
      holders[acquisition]!.release(at)
    },
  }
}

describe.each(KINDS)('the %s kernel', kind => {
  const cases = algorithmSuite(kind, (policy, phase) => {
    const rule = ruleOf(policyOf(policy))
    if (rule.kind === 'bucket') return deciderOf(bucketKernel(rule), rule)
    if (rule.kind === 'fixed') return deciderOf(fixedKernel(rule, phase), rule)
    if (rule.kind === 'sliding') return deciderOf(slidingKernel(rule), rule)
    return deciderOf(rule.kind === 'log' ? logKernel(rule) : slotsKernel(rule), rule)
  })
  for (const { name, run } of cases) test(name, run)
})

describe.each(KINDS)('the suite itself, on the oracle of %s', kind => {
  for (const { name, run } of algorithmSuite(kind, (policy, phase) => oracleFor(policy, { phase }))) test(name, run)
})
