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
const LEAVING = 100_000
/** How long callers that all leave at once may hold up the server's other requests on an idle machine. */
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
    run: async () => stall(slidingLog({ limit: 1, window: '1h' }), (_, leave) => leave()),
  },
  {
    name: 'booked waiters leaving at once',
    tried: 'all aborted in one turn, token bucket',
    isQuick: false,
    run: async () => stall(tokenBucket({ capacity: 1, refill: '1/s' }), (_, leave) => leave()),
  },
  {
    name: 'a limiter closed on those who wait',
    tried: 'close(), token bucket',
    isQuick: false,
    run: async () => stall(tokenBucket({ capacity: 1, refill: '1/s' }), limiter => limiter.close()),
  },
]

/** Whether an immediate answer is wrong: it throws, or the charge does not match the answer. */
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

/** Whether a caller that leaves before the store is asked is still charged. */
async function leaves(policy: Policy): Promise<boolean> {
  const limiter = createLimiter(policy, { store: memoryStore({ clock: fakeClock() }) })
  await limiter.wait('k', { signal: AbortSignal.abort() }).catch(() => {})
  return limiter.peek('k').remaining !== LIMIT
}

/** Measures CPU time of this process, so that other programs on the machine do not count. */
async function stall(policy: Policy, end: (limiter: { close(): unknown }, leave: () => void) => unknown) {
  const limiter = createLimiter(policy)
  limiter.consume('k')
  const leaving = new AbortController()
  setMaxListeners(0, leaving.signal)
  const gone = Array.from({ length: LEAVING }, () => limiter.wait('k', { signal: leaving.signal }).catch(() => {}))
  await new Promise(resolve => setImmediate(resolve))
  const before = process.cpuUsage()
  end(limiter, () => leaving.abort())
  await Promise.all(gone)
  const { user, system } = process.cpuUsage(before)
  limiter.close()
  return { attempts: LEAVING, through: (user + system) / 1000, allowed: LONGEST_MS, unit: 'ms of CPU' }
}
