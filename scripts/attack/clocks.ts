import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { createLimiter, gcra, memoryStore, type Policy, slidingLog, slidingWindow, tokenBucket } from 'sluice'
import { redisStore } from 'sluice/redis'
import { startRedis } from 'sluice-harness'
import type { Attack } from './attack.ts'
import type { Site } from './site.ts'

const HOUR_MS = 3_600_000
const POLICIES: readonly Policy[] = [
  tokenBucket({ capacity: 10, refill: '100/s' }),
  gcra({ rate: '100/s', burst: 10 }),
  slidingWindow({ limit: 10, window: '100ms' }),
  slidingLog({ limit: 10, window: '100ms' }),
]
/** How often a client that keeps to `retryAfterMs` may have to retry, with one more retry for the server's clock. */
const RETRIES = 5

/**
 * libfaketime allocates before it is ready, and Redis's jemalloc would then ask it for the time. So libc comes first.
 */
const LIBRARIES = ['x86_64-linux-gnu', 'aarch64-linux-gnu'].map(arch => [
  `/usr/lib/${arch}/faketime/libfaketime.so.1`,
  `/lib/${arch}/libc.so.6`,
])

export const CLOCKS: readonly Attack[] = [
  {
    name: 'a wall clock an hour ahead for a moment',
    tried: 'retries as told, in memory',
    isQuick: true,
    async run() {
      let locked = 0
      for (const policy of POLICIES) {
        let nowMs = 1_800_000_000_000
        const limiter = createLimiter(policy, { store: memoryStore({ clock: { now: () => nowMs } }) })
        nowMs += HOUR_MS
        for (let i = 0; i < 10; i++) limiter.consume('k')
        nowMs -= HOUR_MS
        let isServed = false
        for (let i = 0; i < RETRIES && !isServed; i++) {
          const decision = limiter.consume('k')
          isServed = decision.allowed
          nowMs += Math.min(decision.retryAfterMs, HOUR_MS / 2)
        }
        if (!isServed) locked++
      }
      return { attempts: POLICIES.length, through: locked, allowed: 0, unit: 'kinds locked out' }
    },
  },
  {
    name: 'Redis an hour ahead for a moment',
    tried: 'retries as told, on a redis-server under faketime',
    isQuick: false,
    async run(site) {
      const { redis, setClock } = await redisWithClock(site)
      const client = new Redis(redis.port, redis.host)
      site.atEnd(() => client.disconnect())
      await client.ping()
      let locked = 0
      for (const [i, policy] of POLICIES.entries()) {
        const options = { denyCache: false, deadline: '5s' } as const
        const limiter = createLimiter(policy, { store: redisStore(client, { prefix: `clock-${i}`, ...options }) })
        setClock('+1h')
        for (let count = 0; count < 10; count++) await limiter.consume('k')
        setClock('+0')
        let isServed = false
        for (let count = 0; count < RETRIES && !isServed; count++) {
          const decision = await limiter.consume('k')
          isServed = decision.allowed && decision.degraded === false
          await sleep(Math.min(decision.retryAfterMs + 1, 500))
        }
        if (!isServed) locked++
      }
      return { attempts: POLICIES.length, through: locked, allowed: 0, unit: 'kinds locked out' }
    },
  },
]

/** A redis-server whose wall clock is set by a file; its own timers go by the real one. */
async function redisWithClock(site: Site) {
  const libraries = LIBRARIES.find(paths => paths.every(existsSync))
  if (libraries === undefined) throw new Error(`expected one of ${LIBRARIES.join(' or ')}: install faketime`)
  const folder = site.folder()
  const [file, program] = [join(folder, 'clock'), join(folder, 'redis-with-clock')]
  const setClock = (offset: string) => writeFileSync(file, offset)
  setClock('+0')
  const env = `FAKETIME_TIMESTAMP_FILE=${file} FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1 LD_PRELOAD=${libraries.join(':')}`
  writeFileSync(program, `#!/bin/sh\n${env} exec redis-server "$@"\n`)
  chmodSync(program, 0o755)
  const redis = await startRedis({ program })
  site.atEnd(() => redis.stop())
  return { redis, setClock }
}
