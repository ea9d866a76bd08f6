import { setMaxListeners } from 'node:events'
import {
  concurrency,
  createLimiter,
  fixedWindow,
  gcra,
  leakyBucket,
  memoryStore,
  type Policy,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from 'sluice'
import { fakeClock } from 'sluice/testing'
import type { Attack } from './attack.ts'
import { countOf } from './site.ts'

const LIMIT = 10
const LEAVING = 10_000
const LEAVING_BOOKED = 1500
/** What a server's other requests may be kept waiting by all who leave at once. */
const LONGEST_MS = 1000

const POLICIES: Readonly<Record<string, Policy>> = {
  'token bucket': tokenBucket({ capacity: LIMIT, refill: '1/h' }),
  'leaky bucket': leakyBucket({ capacity: LIMIT, leak: '1/h' }),
  gcra: gcra({ rate: '1/h', burst: LIMIT }),
  'fixed window': fixedWindow({ limit: LIMIT, window: '1h' }),
  'sliding window': slidingWindow({ limit: LIMIT, window: '1h' }),
  'sliding log': slidingLog({ limit: LIMIT, window: '1h' }),
  concurrency: concurrency({ limit: LIMIT, ttl: '1h' }),
}

export const WAITS: readonly Attack[] = [
  {
    name: 'wait with a signal',
    tried: 'every kind: passing at once, refused at once, aborted before',
    isQuick: true,
    async run() {
      const kinds = Object.values(POLICIES)
      const through = await countOf(kinds, 1, async policy => (await passes(policy)) || (await leaves(policy)))
      return { attempts: 3 * kinds.length, through, allowed: 0, unit: 'kinds that throw or lose quota' }
    },
  },
  {
    name: 'waiters in line leaving at once',
    tried: 'all aborted in one turn, sliding log',
    isQuick: false,
    run: async () => stall(slidingLog({ limit: 1, window: '1h' }), LEAVING),
  },
  {
    name: 'booked waiters leaving at once',
    tried: 'all aborted in one turn, token bucket',
    isQuick: false,
    run: async () => stall(tokenBucket({ capacity: 1, refill: '1/s' }), LEAVING_BOOKED),
  },
]

/** Whether something is wrong with an answer at once: it throws, or what it took is not what it says. */
async function passes(policy: Policy): Promise<boolean> {
  const { signal } = new AbortController()
  const limiter = createLimiter(policy, { store: memoryStore({ clock: fakeClock() }) })
  try {
    const first = await limiter.wait('k', { maxWait: 0, signal })
    const refused = await limiter.wait('k', { cost: LIMIT, maxWait: 0, signal })
    return !first.allowed || refused.allowed || limiter.peek('k').remaining !== LIMIT - 1
  } catch {
    return true
  }
}

/** Whether one who has left before it was asked takes something all the same. */
async function leaves(policy: Policy): Promise<boolean> {
  const limiter = createLimiter(policy, { store: memoryStore({ clock: fakeClock() }) })
  await limiter.wait('k', { signal: AbortSignal.abort() }).catch(() => {})
  return limiter.peek('k').remaining !== LIMIT
}

async function stall(policy: Policy, waiters: number) {
  const limiter = createLimiter(policy)
  limiter.consume('k')
  const leaving = new AbortController()
  setMaxListeners(0, leaving.signal)
  const gone = Array.from({ length: waiters }, () => limiter.wait('k', { signal: leaving.signal }).catch(() => {}))
  await new Promise(resolve => setImmediate(resolve))
  const startedAt = performance.now()
  leaving.abort()
  await Promise.all(gone)
  const through = performance.now() - startedAt
  limiter.close()
  return { attempts: waiters, through, allowed: LONGEST_MS, unit: 'ms of standstill' }
}
