// A process that builds one structure and measures its memory: node probe.ts <what> <size>. The memory cases start it.
import { MemoryStore, type Options } from 'express-rate-limit'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { createLimiter, memoryStore, slidingLog, tokenBucket } from 'sluice'
import { answer, endWithParent } from '../child.ts'
import { HOUR_SECONDS } from './asynchronous-peers.ts'
import { growthOf } from './growth.ts'
import { ROOMY } from './sluice.ts'

const LONG_LOG = slidingLog({ limit: 65_536, window: '1h' })

const builds: Readonly<Record<string, (size: number) => unknown>> = {
  // One token per quarter of an hour: no key is full again when it is weighed, so Sluice may forget none.
  sluice(keys) {
    const limiter = createLimiter(tokenBucket({ capacity: 100, refill: '100/d' }), {
      store: memoryStore({ maxKeys: ROOMY }),
    })
    for (let i = 0; i < keys; i++) limiter.consume(`user:${i}`)
    return limiter
  },
  async 'rate-limiter-flexible'(keys) {
    const limiter = new RateLimiterMemory({ points: 100, duration: HOUR_SECONDS, keyPrefix: '' })
    for (let i = 0; i < keys; i++) await limiter.consume(`user:${i}`)
    return limiter
  },
  async 'express-rate-limit'(keys) {
    const store = new MemoryStore()
    store.init({ windowMs: HOUR_SECONDS * 1000 } as Options)
    for (let i = 0; i < keys; i++) await store.increment(`user:${i}`)
    return store
  },
  /** Few keys, each with every slot of its log in use; `size` is slots. */
  'full logs'(slots) {
    const limiter = createLimiter(LONG_LOG, { store: memoryStore() })
    for (let i = 0; i < slots; i++) limiter.consume(`user:${Math.floor(i / LONG_LOG.limit)}`)
    return limiter
  },
  'short logs'(keys) {
    const limiter = createLimiter(LONG_LOG, { store: memoryStore() })
    for (let i = 0; i < 3 * keys; i++) limiter.consume(`user:${i % keys}`)
    return limiter
  },
}

endWithParent()
const [what = '', size] = process.argv.slice(2)
const build = builds[what]
if (build === undefined) throw new Error(`nothing to build under '${what}'`)
answer(await growthOf(build, Number(size)))
