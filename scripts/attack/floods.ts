import { createLimiter, memoryStore, slidingLog, tokenBucket } from 'sluice'
import { fakeClock } from 'sluice/testing'
import type { Attack } from './attack.ts'
import { countOf, post, upTo } from './site.ts'

const MAX_KEYS = 10_000
const INVENTED = 300_000
const RESERVATIONS = 30_000
/** What a service of any size may grow by beside: buffers, compiled code. */
const GROWTH_MB = 24
const BATCH = 1000
const DAY_MS = 86_400_000
const LOG_COST = 1_000_000

export const FLOODS: readonly Attack[] = [
  {
    name: 'keys until the table is full',
    tried: `${MAX_KEYS.toLocaleString('en-US')} fit; does a refused key pass afterwards?`,
    isQuick: true,
    async run() {
      const store = memoryStore({ clock: fakeClock(), maxKeys: MAX_KEYS })
      const limiter = createLimiter(tokenBucket({ capacity: 5, refill: '1/h' }), { store })
      for (let i = 0; i < 5; i++) limiter.consume('offender')
      for (let i = 0; i < INVENTED; i++) limiter.consume(`invented-${i}`)
      let through = 0
      for (let i = 0; i < 100; i++) if (limiter.consume('offender').allowed) through++
      return { attempts: INVENTED + 100, through, allowed: 0 }
    },
  },
  {
    name: 'keys for fresh quota',
    tried: 'a full table, a new key each',
    isQuick: true,
    async run() {
      const store = memoryStore({ clock: fakeClock(), maxKeys: MAX_KEYS })
      const limiter = createLimiter(tokenBucket({ capacity: 5, refill: '1/h' }), { store })
      let through = 0
      for (let i = 0; i < INVENTED; i++) if (limiter.consume(`invented-${i}`).allowed) through++
      // What fits passes once each, and then the pooled buckets, which are 4,096 of 5.
      return { attempts: INVENTED, through, allowed: MAX_KEYS + 4096 * 5 }
    },
  },
  {
    name: 'a sliding log that takes all memory',
    tried: `a limit of ${LOG_COST.toLocaleString('en-US')} constructed, 8 bytes for each`,
    isQuick: true,
    async run() {
      const make = () => createLimiter(slidingLog({ limit: LOG_COST, window: '1h' }))
      return { attempts: 1, through: isThrown(make) ? 0 : 1, allowed: 0 }
    },
  },
  {
    name: 'reservations of cost 0',
    tried: 'held for a day each, on the service',
    isQuick: false,
    async run(site) {
      const service = await site.service(
        'limits: { per-user: { key: user, token-bucket: { capacity: 1000, refill: 1/1h } } }',
      )
      const reserve = async () =>
        (await post(service.http, '/v1/reserve', { user: '42', cost: 0, ttl_ms: DAY_MS })).status === 200
      await countOf(upTo(BATCH), 16, reserve)
      const before = service.residentMb()
      await countOf(upTo(RESERVATIONS), 16, reserve)
      const through = Math.max(0, service.residentMb() - before)
      return { attempts: RESERVATIONS, through, allowed: GROWTH_MB, unit: 'MB more' }
    },
  },
  {
    name: 'reservations of cost 1',
    tried: 'held by one key whose limit is 100,000, over the cap',
    isQuick: false,
    async run() {
      const limiter = createLimiter({
        limits: { user: { policy: tokenBucket({ capacity: 100, refill: '1000000/s' }), key: (id: string) => id } },
      })
      let through = 0
      for (let i = 0; i < RESERVATIONS; i++) if (limiter.reserve('k', { cost: 1, ttl: '1d' }).allowed) through++
      return { attempts: RESERVATIONS, through, allowed: 256, unit: 'held' }
    },
  },
]

function isThrown(run: () => unknown): boolean {
  try {
    run()
    return false
  } catch {
    return true
  }
}
