import { Redis } from 'ioredis'
import { createLimiter, fixedWindow } from 'sluice'
import { redisStore } from 'sluice/redis'
import { startProxy, startRedis, type TcpProxy } from 'sluice-harness'
import type { Attack } from './attack.ts'
import type { Site } from './site.ts'

const LIMIT = 1000
const REQUESTS = 4000
const AT_ONCE = 20
/** In an outage this process enforces half by itself. */
const LOCAL = LIMIT / 2

/** The network faults on the way to Redis, in every other turn. */
const PLANS: Readonly<Record<string, (proxy: TcpProxy, isWrong: boolean) => void>> = {
  'Redis, connections reset': (proxy, isWrong) => {
    if (isWrong) proxy.reset()
  },
  'Redis, out of reach and back': (proxy, isWrong) => {
    proxy.refuse = isWrong
    if (isWrong) proxy.reset()
  },
  'Redis, answers lost': (proxy, isWrong) => {
    proxy.drop = isWrong ? 'down' : false
  },
  'Redis, slower than the deadline': (proxy, isWrong) => {
    proxy.latencyMs = isWrong ? 40 : 0
  },
}

export const OUTAGES: readonly Attack[] = Object.entries(PLANS).map(([name, plan]) => ({
  name,
  tried: 'a limit asked for more than it gives all along',
  isQuick: false,
  run: site => admitted(site, plan),
}))

async function admitted(site: Site, plan: (typeof PLANS)[string]) {
  const redis = await startRedis()
  site.atEnd(() => redis.stop())
  const proxy = await startProxy(redis)
  site.atEnd(() => proxy.stop())
  const client = new Redis(proxy.port, proxy.host, { maxRetriesPerRequest: 1 })
  client.on('error', () => {})
  site.atEnd(() => client.disconnect())
  const policy = fixedWindow({ limit: LIMIT, window: '1d', align: 'first' })
  const limiter = createLimiter(policy, { store: redisStore(client) })
  await client.ping()
  let through = 0
  let degraded = 0
  for (let done = 0, turn = 0; done < REQUESTS; done += AT_ONCE) {
    if (done % (5 * AT_ONCE) === 0) plan(proxy, turn++ % 2 === 1)
    const decisions = await Promise.all(Array.from({ length: AT_ONCE }, () => limiter.consume('k')))
    through += decisions.filter(({ allowed }) => allowed).length
    degraded += decisions.filter(decision => decision.degraded !== false).length
    await new Promise(resolve => setTimeout(resolve, 5))
  }
  if (degraded === 0) throw new Error('the fault was not felt')
  return { attempts: REQUESTS, through, allowed: LIMIT + LOCAL }
}
