import type { Policy } from '../policy.ts'
import { limitOf, type Oracle, type OracleVerdict, oracleFor } from './oracle/oracle.ts'
import { rhythmOf } from './oracle/rhythm.ts'
import { type Case, isSameVerdict, show } from './store-suite/case.ts'
import { isExact, ofEveryKind } from './store-suite/policies.ts'
import { random, randomPolicy, randomTrace, type Step } from './trace.ts'

/** The bare algorithm for one key of one policy. Times are ticks and never run backwards. */
export interface AlgorithmKey {
  consume(at: number, cost: number): OracleVerdict
  peek(at: number, cost: number): OracleVerdict
  /** Takes back a charge that was made at tick `chargedAt`. */
  refund?(at: number, cost: number, chargedAt: number): void
  credit?(at: number, cost: number): void
  /** Concurrency only: ends the n-th allowed `consume`, from 0. */
  release?(at: number, acquisition: number): void
}

/** Where the windows of `align: 'key'` start, in ticks. It is less than the smallest window, 1000 ticks. */
const PHASE = 337
const SEEDS = 150
const STEPS = 60

/**
 * Cases for any test runner. They check that an algorithm gives the oracle's verdicts, around the limit and on random
 * traces. `open` makes a fresh key of a policy. `phase` is where its windows start; it is 0 unless `align` is 'key'.
 */
export function algorithmSuite(kind: Policy['kind'], open: (policy: Policy, phase: number) => AlgorithmKey): Case[] {
  const check = (policy: Policy, trace: readonly Step[], about: string) => {
    const phase = policy.kind === 'fixedWindow' && policy.align === 'key' ? PHASE : 0
    if (isExact(policy)) agree(policy, trace, open(policy, phase), about)
  }
  return [
    ...[0, 1, 2, 5, 1000].map(limit => ({
      name: `${kind}: at the edges of a limit of ${limit}, and a tick beside them, it decides as the oracle does`,
      run() {
        for (const windowMs of [1, 1.001, 1000, 60_000, 366 * 86_400_000]) {
          for (const policy of ofEveryKind(limit, windowMs)) {
            if (policy.kind === kind) check(policy, edges(policy), 'edges')
          }
        }
      },
    })),
    {
      name: `${kind}: on random policies and traces it decides as the oracle does`,
      run() {
        for (let seed = 0; seed < SEEDS; seed++) {
          const rng = random(seed)
          const policy = randomPolicy(rng, kind)
          check(policy, randomTrace(rng, policy, STEPS, { phase: PHASE }), `seed ${seed}`)
        }
      },
    },
  ]
}

/**
 * Fills the limit in one charge or several. Then asks for costs from 0 to too much, around each tick where room comes.
 */
function edges(policy: Policy): Step[] {
  const limit = limitOf(policy)
  const { interval, window, edge } = rhythmOf(policy, PHASE)
  const steps: Step[] = []
  let at = 1_790_000_000_000_000
  for (const fill of [[limit], [1, limit - 1], [limit - 1, 1, 0]]) {
    for (const cost of fill.filter(part => part >= 0)) steps.push({ at, op: 'consume', cost })
    const around = [at, edge(at, at), at + interval, at + window, at + 2 * window]
    for (const near of [...new Set(around.flatMap(tick => [tick - 1, tick, tick + 1]))].sort((a, b) => a - b)) {
      if (near < at) continue
      for (const cost of [0, 1, limit, limit + 1]) steps.push({ at: near, op: 'peek', cost })
      for (const cost of [0, limit + 1, 1, limit]) steps.push({ at: near, op: 'consume', cost })
      at = near
    }
    at += 4 * window
  }
  return steps
}

function agree(policy: Policy, trace: readonly Step[], decider: AlgorithmKey, about: string): void {
  const oracle = oracleFor(policy, { phase: PHASE })
  const charges = new Map<number, { at: number; cost: number; acquisition: number }>()
  let acquisitions = 0
  for (const [index, { at, op, cost, of = -1 }] of trace.entries()) {
    if (op === 'consume' || op === 'peek') {
      const [got, expected] = [decider[op](at, cost), oracle[op](at, cost)]
      if (!isSameVerdict(got, expected)) {
        const where = `${about}, policy ${show(policy)}, step ${index}: ${op} ${cost} at ${at}`
        throw new Error(`${where}: expected ${show(expected)}, got ${show(got)}`)
      }
      if (op === 'consume' && expected.allowed) charges.set(index, { at, cost, acquisition: acquisitions++ })
    } else if (op === 'credit' && decider.credit) {
      decider.credit(at, cost)
      oracle.credit(at, cost)
    } else if (op === 'refund') {
      const charge = charges.get(of)
      if (charge !== undefined) takeBack(decider, oracle, at, charge)
    }
  }
}

function takeBack(
  decider: AlgorithmKey,
  oracle: Oracle,
  at: number,
  charge: { at: number; cost: number; acquisition: number },
): void {
  if (oracle.release && decider.release) {
    decider.release(at, charge.acquisition)
    oracle.release(at, charge.acquisition)
  } else if (decider.refund) {
    decider.refund(at, charge.cost, charge.at)
    oracle.refund(at, charge.cost, charge.at)
  }
}
