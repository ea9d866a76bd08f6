import { createLimiter, fixedWindow, type LimiterEvent } from 'sluice'
import { type RedisStats, redisStore, type StoreEvent } from 'sluice/redis'
import { until } from 'sluice-harness'
import { connect, type Target } from './clients.ts'
import { Journal } from './journal.ts'
import { type Pace, steadily } from './pace.ts'
import type { Scenario } from './scenario.ts'

/** Each limit is asked equally often: two decisions a millisecond in all. */
const PER_MS = 1

/** A limit never reached, so that every decision asks the store and every charge can be found there. */
const PLENTY = fixedWindow({ limit: 1_000_000, window: '1h', align: 'first' })

export interface Told {
  /** In milliseconds of this process. */
  readonly at: number
  readonly event: StoreEvent | LimiterEvent
}

/** A process that uses a store: its client, two limits, and their journals. */
export interface Site {
  /** Asked for less than it gives. */
  readonly plenty: Journal
  /** Asked for more than it gives. */
  readonly scarce: Journal
  readonly told: readonly Told[]
  /** When the client was last connected, in milliseconds of this process. */
  readonly readyAt: number
  readonly stats: RedisStats
  /** So many times, of the plentiful limit. */
  ask(times: number): void
  start(): Pace
  /** What the store has counted of the first limit. */
  counted(): Promise<number>
  close(): Promise<void>
}

export async function openSite({ client, onOutage, scarce }: Scenario, target: Target): Promise<Site> {
  const connected = await connect(client, target)
  const told: Told[] = []
  const onEvent = (event: Told['event']) => void told.push({ at: performance.now(), event })
  const store = redisStore(connected.client, { onEvent })
  const plenty = createLimiter(PLENTY, { name: 'plenty', store, onEvent, onOutage })
  const site: Site = {
    plenty: new Journal(plenty),
    scarce: new Journal(createLimiter(scarce.policy, { name: 'scarce', store, onEvent, onOutage })),
    told,
    get readyAt() {
      return connected.readyAt
    },
    get stats() {
      return store.stats()
    },
    ask(times) {
      for (let i = 0; i < times; i++) site.plenty.ask('all')
    },
    start: () =>
      steadily(PER_MS, n => {
        site.plenty.ask('all')
        site.scarce.ask(`subject ${n % scarce.subjects}`)
      }),
    counted: () =>
      until('the store says what it has counted', async () => {
        const { degraded, limit, remaining } = await plenty.peek('all')
        return degraded === false && limit - remaining
      }),
    async close() {
      await store.close()
      connected.close()
    },
  }
  return site
}
