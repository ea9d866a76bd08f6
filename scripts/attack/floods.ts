import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createLimiter, memoryStore, slidingLog, tokenBucket } from 'sluice'
import { fakeClock } from 'sluice/testing'
import type { Attack } from './attack.ts'
import { countOf, post, upTo } from './site.ts'

const MAX_KEYS = 10_000
const INVENTED = 60_000
const WARM_UP = 2000
const RESERVATIONS = 8000
/** Room in the heap for compiled code and the like. */
const HEAP_MB = 1
/** Each takes more than a kilobyte, so keeping all of them would need more heap than allowed. */
const SERVICE_RESERVATIONS = 80_000
const SERVICE_HEAP_MB = 80
const LIMITS = 20_000
/** Checking takes seconds on a busy machine. */
const CHECK_MS = 10_000
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
      // Each key that fits passes once, and then the pooled buckets pass: 4,096 of 5.
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
    tried: 'held for a day each, in the library',
    isQuick: true,
    async run() {
      const limiter = createLimiter(tokenBucket({ capacity: 1000, refill: '1/h' }))
      const reserve = () => limiter.reserve('k', { cost: 0, ttl: '1d' })
      for (let i = 0; i < WARM_UP; i++) reserve()
      const before = heapMb()
      for (let i = 0; i < RESERVATIONS; i++) reserve()
      const through = Math.max(0, heapMb() - before)
      // Used once more, so that it is not collected before it is measured.
      if (!limiter.peek('k').allowed) throw new Error('a reservation of cost 0 took something')
      return { attempts: RESERVATIONS, through, allowed: HEAP_MB, unit: 'MB more' }
    },
  },
  {
    name: 'reservations of cost 0, service',
    tried: `held for a day each, over HTTP, at a heap of ${SERVICE_HEAP_MB} MB`,
    isQuick: false,
    async run(site) {
      const rules = 'limits: { per-user: { key: user, token-bucket: { capacity: 1000, refill: 1/1h } } }'
      const service = await site.service(rules, [], SERVICE_HEAP_MB)
      const body = { user: '42', cost: 0, ttl_ms: DAY_MS }
      const reserve = async () => (await post(service.http, '/v1/reserve', body)).status === 200
      const reserved = await countOf(upTo(SERVICE_RESERVATIONS), 16, reserve).catch(() => 0)
      if (service.isUp() && reserved < SERVICE_RESERVATIONS) throw new Error('a reservation of cost 0 was refused')
      return { attempts: SERVICE_RESERVATIONS, through: service.isUp() ? 0 : 1, allowed: 0, unit: 'services that died' }
    },
  },
  {
    name: 'a rules file of 20,000 limits',
    tried: 'sluice check, as an operator of many would',
    isQuick: false,
    async run(site) {
      const file = join(site.folder(), 'rules.yaml')
      const limits = Array.from({ length: LIMITS }, (_, i) => `  l${i}: { key: user, sliding-log: 5/1h }`)
      writeFileSync(file, `limits:\n${limits.join('\n')}\n`)
      const startedAt = performance.now()
      const child = site.sluice(['check', file], () => {})
      await new Promise(resolve => child.once('close', resolve))
      return { attempts: LIMITS, through: performance.now() - startedAt, allowed: CHECK_MS, unit: 'ms' }
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

/** The heap in use after a garbage collection. */
function heapMb(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 2 ** 20
}
