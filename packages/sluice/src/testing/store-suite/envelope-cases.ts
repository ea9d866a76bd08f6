import type { Policy } from '../../policy.ts'
import type { Charge } from '../../stores/charge.ts'
import { envelopeViolation } from '../envelope.ts'
import { KINDS, random, randomTrace } from '../trace.ts'
import { type Case, same, show } from './case.ts'
import { modestPolicy } from './policies.ts'
import { StoredLimit } from './stored-limit.ts'
import { type Bench, LATEST_TICK } from './world.ts'

const KEY = 'user:42'

export function envelopeCases(bench: Bench): Case[] {
  return KINDS.filter(kind => kind !== 'concurrency').map((kind, nth) => ({
    name: `no span of time admits more than a ${kind} limit promises (law 4)`,
    run: () => keepsEnvelope(bench, kind, nth * 1000),
  }))
}

/** Asks at random times and, between them, at each `retryAt` of the store: then it is most likely to admit too much. */
async function keepsEnvelope(bench: Bench, kind: Policy['kind'], from: number): Promise<void> {
  for (let seed = from; seed < from + bench.times(60); seed++) {
    await bench.inWorld(async world => {
      const rng = random(seed)
      const stored = new StoredLimit(world, modestPolicy(rng, kind))
      const admitted = new Map<number, { at: number; cost: number }>()
      const charges = new Map<number, Charge>()
      const trace = randomTrace(rng, stored.policy, 150, { backwards: rng() < 0.3, phase: stored.phase(KEY) })
      for (const [index, { at, op, cost, of = -1 }] of trace.entries()) {
        if (at > LATEST_TICK) break
        world.goTo(at)
        const charge = charges.get(of)
        if (op === 'refund' && charge !== undefined) {
          await stored.refund(charge)
          admitted.delete(of)
        } else if (op === 'consume' || op === 'peek') {
          let asked = await stored.consume(KEY, cost)
          if (!asked.allowed && asked.retryAt < LATEST_TICK && rng() < 0.5) {
            world.goTo(asked.retryAt)
            asked = await stored.consume(KEY, cost)
          }
          if (!asked.allowed) continue
          charges.set(index, asked)
          admitted.set(index, { at: world.now, cost })
        }
      }
      const found = envelopeViolation(stored.policy, [...admitted.values()], { phase: stored.phase(KEY) })
      same(found, undefined, () => `seed ${seed}, policy ${show(stored.policy)}`)
    })
  }
}
