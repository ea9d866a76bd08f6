import { createLimiter, memoryStore, slidingLog } from 'sluice'
import type { BenchCase } from '../bench-case.ts'
import type { Contestant } from '../entrant.ts'
import { compare } from '../harness.ts'
import { print } from '../report.ts'

const LONG = 65_536
const SHORT = 10

/**
 * Does a decision cost more when the log is long? Each log is full, and the clock moves by one entry a decision: one
 * leaves, one comes, for ever. Time is the same arithmetic for both, so only the length differs.
 */
export const logLengthCase: BenchCase = {
  name: 'sliding log, a decision at limit 65,536 against limit 10',
  run: async settings => {
    const field = { sluice: () => turning(LONG), references: [turning(SHORT)], fill: 2 * LONG }
    const { rows, aa } = await compare(field, settings)
    print({ bench: 'memory', case: logLengthCase.name, unit: 'decisions/s', better: 'more', rows, aa })
  },
}

function turning(limit: number): Contestant {
  let nowMs = 1_000_000
  const clock = { now: () => nowMs }
  const limiter = createLimiter(slidingLog({ limit, window: `${limit}ms` }), { store: memoryStore({ clock }) })
  return {
    name: `sluice, limit ${limit.toLocaleString('en-US')}`,
    ways: {
      'the returned decision': count => {
        let admitted = 0
        for (let i = 0; i < count; i++) {
          nowMs += 1
          if (limiter.consume('user:1').allowed) admitted++
        }
        return admitted
      },
    },
  }
}
