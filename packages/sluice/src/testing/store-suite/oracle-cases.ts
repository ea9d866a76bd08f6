import type { Policy } from '../../policy.ts'
import { KINDS, random, randomPolicy, randomTrace, type Step, type TraceOptions } from '../trace.ts'
import type { Case } from './case.ts'
import { StoredLimit } from './stored-limit.ts'
import { Witness } from './witness.ts'
import { type Bench, LATEST_TICK } from './world.ts'

const STEPS = 60
/** Fewer seeds for sliding windows, because the oracle needs milliseconds for a verdict on 256 sub-windows. */
const SEEDS: Partial<Record<Policy['kind'], number>> = { slidingWindow: 60 }
const KEY = 'user:42'

/** Compares each verdict with the oracle's, for random policies and traces. So any two stores decide alike. */
export function oracleCases(bench: Bench): Case[] {
  const agree = async (kind: Policy['kind'], options: TraceOptions, from: number) => {
    for (let seed = from; seed < from + bench.times(SEEDS[kind] ?? 120); seed++) {
      await bench.inWorld(async world => {
        const rng = random(seed)
        const stored = new StoredLimit(world, randomPolicy(rng, kind))
        const phase = stored.phase(KEY)
        const trace = before(LATEST_TICK, randomTrace(rng, stored.policy, STEPS, { ...options, phase }))
        await new Witness(stored, KEY, `seed ${seed}`).playAll(trace)
      })
    }
  }
  return KINDS.flatMap(kind => [
    {
      name: `a ${kind} limit gives the oracle's verdicts on random traces (laws 3, 5 and 12)`,
      run: () => agree(kind, {}, 0),
    },
    {
      name: `a ${kind} limit gives the oracle's verdicts while time runs backwards now and then (law 6)`,
      run: () => agree(kind, { backwards: true }, 10_000),
    },
  ])
}

function before(end: number, trace: readonly Step[]): readonly Step[] {
  const stop = trace.findIndex(step => step.at >= end)
  return stop < 0 ? trace : trace.slice(0, stop)
}
