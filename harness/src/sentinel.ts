import { allOrNone, stopAll } from './all-or-none.ts'
import { LOOPBACK } from './boot.ts'
import { type RedisServer, startRedis } from './redis-server.ts'
import { until } from './until.ts'

export interface SentinelGroup {
  /** What the sentinels call the group. */
  readonly name: string
  /** The first one was the primary at the start. */
  readonly servers: readonly RedisServer[]
  /** Servers like any other: they can be killed, paused and asked. */
  readonly sentinels: readonly RedisServer[]
  /** Whom the sentinels take for the primary; while they do not agree, waits until they do. */
  primary(): Promise<RedisServer>
  /** Kills the primary, or orders its replica to take over from it, and comes back with the new one. */
  failover(how?: 'kill' | 'order'): Promise<RedisServer>
  stop(): Promise<void>
}

const NAME = 'mymaster'
const PATIENCE = { withinMs: 15_000, everyMs: 50 }

/** Sentinels look around every few seconds by default. A stall of the machine must not make them tilt for half a minute. */
const QUICK = ['INFO-PERIOD', '300', 'PUBLISH-PERIOD', '200', 'ASK-PERIOD', '200', 'TILT-PERIOD', '1000']

/** Starts a primary, its replica and three sentinels, two of whom must agree. */
export async function startSentinel(): Promise<SentinelGroup> {
  const first = await startRedis()
  const servers = [first]
  const sentinels: RedisServer[] = []
  const stop = () => stopAll([...sentinels, ...servers])
  const agreed = (other?: RedisServer) =>
    until('the sentinels agree on a primary', () => agreedPrimary(servers, sentinels, other), PATIENCE)
  try {
    servers.push(await startRedis({ args: ['--replicaof', first.host, String(first.port)] }))
    await until('the replica follows', () => follows(servers[1]!, first))
    sentinels.push(...(await allOrNone(Array.from({ length: 3 }, () => startOne(first)))))
    await until('the sentinels know each other', () => knowEachOther(sentinels), PATIENCE)
    await agreed()
  } catch (error) {
    await stop()
    throw error
  }
  return {
    name: NAME,
    servers,
    sentinels,
    primary: () => agreed(),
    async failover(how = 'kill') {
      const old = await agreed()
      if (how === 'kill') await old.kill()
      else await sentinels.find(({ isUp }) => isUp)?.command('SENTINEL', 'FAILOVER', NAME)
      return agreed(old)
    },
    stop,
  }
}

async function startOne(primary: RedisServer): Promise<RedisServer> {
  const config = [
    `sentinel monitor ${NAME} ${LOOPBACK} ${primary.port} 2`,
    `sentinel down-after-milliseconds ${NAME} 300`,
    `sentinel failover-timeout ${NAME} 1000`,
  ]
  const sentinel = await startRedis({ program: 'redis-sentinel', config: `${config.join('\n')}\n` })
  await sentinel.command('SENTINEL', 'DEBUG', ...QUICK)
  return sentinel
}

async function knowEachOther(sentinels: readonly RedisServer[]): Promise<boolean> {
  const replies = (await Promise.all(sentinels.map(one => one.command('SENTINEL', 'MASTER', NAME)))) as string[][]
  const field = (reply: string[], name: string) => Number(reply[reply.indexOf(name) + 1])
  return replies.every(
    reply => field(reply, 'num-slaves') === 1 && field(reply, 'num-other-sentinels') === sentinels.length - 1,
  )
}

/** The server all sentinels name, once it is a primary and the other, if it is up, follows it. */
async function agreedPrimary(
  servers: readonly RedisServer[],
  sentinels: readonly RedisServer[],
  not: RedisServer | undefined,
): Promise<RedisServer | undefined> {
  const up = sentinels.filter(({ isUp }) => isUp)
  const replies = await Promise.all(up.map(one => one.command('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME)))
  const ports = new Set((replies as [string, string][]).map(([, port]) => Number(port)))
  const primary = servers.find(({ port }) => ports.size === 1 && ports.has(port))
  if (primary === undefined || primary === not) return undefined
  const [role] = (await primary.command('ROLE')) as [string]
  const others = servers.filter(server => server !== primary && server.isUp)
  const following = await Promise.all(others.map(other => follows(other, primary)))
  return role === 'master' && following.every(Boolean) ? primary : undefined
}

async function follows(server: RedisServer, primary: RedisServer): Promise<boolean> {
  const [role, , port, link] = (await server.command('ROLE')) as [string, string, number, string]
  return role === 'slave' && port === primary.port && link === 'connected'
}
