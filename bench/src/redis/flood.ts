import { setImmediate as turn } from 'node:timers/promises'
import { createLimiter, tokenBucket } from 'sluice'
import type { BenchCase } from '../bench-case.ts'
import { after, keysOf } from '../keys.ts'
import { print } from '../report.ts'
import { IN_FLIGHT } from './load.ts'
import { atServer, ioredis } from './site.ts'
import { PATIENT } from './sluice.ts'

const HOT_KEYS = 100
const CAPACITY = 10
const REFILL_PER_SECOND = 2
/** Tokens that were refilled at the very end may not have been used, so they are not expected. */
const LAST_SECONDS = 0.05

/**
 * Many callers ask for far more than a few keys have. How many of the questions reach Redis? Does every key still get
 * exactly what its bucket gives?
 */
export const floodCase: BenchCase = {
  name: `a flood of refusals, ${IN_FLIGHT} in flight, ${HOT_KEYS} hot keys`,
  run: ({ rounds, sliceMs }) =>
    atServer(async site => {
      const store = site.store(ioredis(site), PATIENT)
      const policy = tokenBucket({ capacity: CAPACITY, refill: `${REFILL_PER_SECOND}/s` })
      const limiter = createLimiter(policy, { store })
      await limiter.consume('somebody else') // opens the connection
      const keys = keysOf(HOT_KEYS)
      const admitted = new Uint32Array(HOT_KEYS)
      let made = 0
      let degraded = 0
      let at = HOT_KEYS
      const cachedBefore = store.stats().cached
      const startedAt = performance.now()
      const caller = async () => {
        while (performance.now() - startedAt < rounds * sliceMs) {
          const user = keys.order[at]!
          at = after(keys, at)
          const decision = await limiter.consume(`user:${user}`)
          made++
          if (decision.degraded !== false) degraded++
          else if (decision.allowed) admitted[user]!++
          // Real requests come from sockets, so the event loop turns between two requests of a caller.
          await turn()
        }
      }
      await Promise.all(Array.from({ length: IN_FLIGHT }, caller))
      const seconds = (performance.now() - startedAt) / 1000

      const givenIn = (time: number) => Math.floor(CAPACITY + REFILL_PER_SECOND * time)
      const given = givenIn(seconds)
      const most = Math.max(...admitted)
      if (most > given) throw new Error(`a key had ${most} of the ${given} that its bucket gave`)
      const total = admitted.reduce((sum, count) => sum + count)
      const ideal = HOT_KEYS * givenIn(seconds - LAST_SECONDS)
      const cached = store.stats().cached - cachedBefore
      const note =
        `of ${made.toLocaleString('en-US')} (${Math.round(made / seconds).toLocaleString('en-US')}/s); ${total} admitted, ` +
        `where ideal buckets give ${ideal}; no key had more than its bucket gave; ${degraded} decided without Redis`
      print({
        bench: 'redis',
        case: floodCase.name,
        unit: '% answered without Redis',
        better: 'more',
        rows: [{ name: 'sluice', role: 'sluice', value: (100 * cached) / made, note }],
        aa: null,
        extra: { decisions: made, admitted: total, ideal, degraded },
      })
    }),
}
