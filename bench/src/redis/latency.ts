import { ranked } from '../harness.ts'
import { print } from '../report.ts'
import { contest } from './contest.ts'
import { bareIncr, rateLimiterFlexible } from './peers.ts'
import { generousBucket, PLENTY } from './policies.ts'
import { atServer } from './site.ts'
import { sluice } from './sluice.ts'

const NAME = 'token bucket, 1 in flight, median latency'

/** A lone caller, so that nothing is shared: what batching costs where there is nothing to batch. */
export const latencyCase = contest(
  { name: NAME, keys: 10_000, callers: 1, place: atServer },
  {
    sluice: sluice(generousBucket),
    peers: [rateLimiterFlexible({ points: PLENTY })],
    references: [bareIncr()],
  },
  measured => {
    const { rows, aa } = ranked(measured, ({ readings }) => readings.p50Us!, 'less')
    const shown = rows.map(({ note: _, ...row }) =>
      row.ratio === undefined ? row : { ...row, note: `sluice takes ${(1 / row.ratio).toFixed(2)} of its time` },
    )
    print({ bench: 'redis', case: NAME, unit: 'µs', better: 'less', rows: shown, aa })
  },
)
