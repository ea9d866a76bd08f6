import { measure, ranked } from '../harness.ts'
import { keysOf } from '../keys.ts'
import { print } from '../report.ts'
import type { BenchCase } from '../suites.ts'
import { bareIncr, rateLimiterFlexible } from './peers.ts'
import { generousBucket, PLENTY } from './policies.ts'
import { atServer } from './site.ts'
import { sluice } from './sluice.ts'

const KEYS = 10_000

/** A lone caller, so that nothing is shared: what batching costs where there is nothing to batch. */
export const latencyCase: BenchCase = {
  name: 'token bucket, 1 in flight, median latency',
  run: settings =>
    atServer(async site => {
      const client = site.ioredis()
      const { gauge } = site
      const load = { callers: 1, keys: keysOf(KEYS), latenciesMs: gauge.latenciesMs }
      const field = {
        sluice: () => sluice({ site, client, load }, generousBucket),
        peers: [rateLimiterFlexible({ name: 'rate-limiter-flexible', client, load, points: PLENTY })],
        references: [bareIncr(client, load)],
        fill: KEYS,
        gauge,
      }
      const measured = await measure(field, settings)
      const { rows, aa } = ranked(measured, ({ readings }) => readings.p50Us!, 'less')
      const shown = rows.map(({ note: _, ...row }) =>
        row.ratio === undefined ? row : { ...row, note: `sluice takes ${(1 / row.ratio).toFixed(2)} of its time` },
      )
      print({ bench: 'redis', case: latencyCase.name, unit: 'µs', better: 'less', rows: shown, aa })
    }),
}
