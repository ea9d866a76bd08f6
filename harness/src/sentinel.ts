import { allOrNone, stopAll } from './all-or-none.ts'
import { LOOPBACK } from './boot.ts'
import { type RedisServer, startRedis } from './redis-server.ts'
import { until } from './until.ts'

export interface SentinelGroup {
  /** The sentinels' name for the group. */
  readonly name: string
  /** The first one was the primary at the start. */
  readonly servers: readonly RedisServer[]
  /** Servers like any other: they can be killed, paused and asked. */
  readonly sentinels: readonly RedisServer[]
  /** The primary that all sentinels name. Waits until they agree. */
  primary(): Promise<RedisServer>
  /** Kills the primary, or orders a failover to its replica, and resolves to the new primary. */
  failover(how?: 'kill' | 'order'): Promise<RedisServer>
  stop(): Promise<void>
}

const NAME = 'mymaster'
const PATIENCE = { withinMs: 30_000, everyMs: 50 }

/**
 * Faster checks than by default, and a TILT of 1 s instead of 30: sentinels rest in it after a stall of the machine.
 */
const QUICK = ['INFO-PERIOD', '300', 'PUBLISH-PERIOD', '200', 'ASK-PERIOD', '200', 'TILT-PERIOD', '1000']

/** Starts a primary, its replica and three sentinels, two of whom must agree. */
export async function startSentinel(): Promise<SentinelGroup> {
  const first = await startRedis()
  const servers = [first]
  const sentinels: RedisServer[] = []
  const stop = () => stopAll([...sentinels, ...servers])
  const agreed = (not?: RedisServer, beforeEachLook?: () => Promise<void>) =>
    until(
      'the sentinels agree on a primary',
      async () => {
        await beforeEachLook?.()
        return agreedPrimary(servers, sentinels, not)
      },
      PATIENCE,
    )
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
      if (how === 'order') return agreed(old, () => orderAway(old, sentinels))
      await old.kill()
      return agreed(old)
    },
    stop,
  }
}

async function startOne(primary: RedisServer): Promise<RedisServer> {
  const config = [
    `sentinel monitor ${NAME} ${LOOPBACK} ${primary.port} 2`,
    `sentinel down-after-milliseconds ${NAME} 700`,
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

/**
 * Orders a failover if the leading sentinel still names the old primary. Call it until that changes: the sentinel
 * refuses while it considers no replica good, and gives up when a step takes too long. During a failover the order has
 * no effect.
 */
async function orderAway(old: RedisServer, sentinels: readonly RedisServer[]): Promise<void> {
  const leader = sentinels.find(({ isUp }) => isUp)!
  if ((await namedBy(leader)) === old.port) await leader.command('SENTINEL', 'FAILOVER', NAME)
}

/** The primary that all sentinels name and that the other server, if up, follows. Else throws the reason. */
async function agreedPrimary(
  servers: readonly RedisServer[],
  sentinels: readonly RedisServer[],
  not: RedisServer | undefined,
): Promise<RedisServer> {
  const ports = await Promise.all(sentinels.filter(({ isUp }) => isUp).map(namedBy))
  const primary = servers.find(server => ports.every(port => port === server.port))
  if (primary === undefined || primary === not) throw new Error(`the sentinels name ${ports.join(', ')}`)
  const [role] = (await primary.command('ROLE')) as [string]
  if (role !== 'master') throw new Error(`${primary.port}, which the sentinels name, is a ${role}`)
  for (const other of servers.filter(server => server !== primary && server.isUp)) {
    if (!(await follows(other, primary))) throw new Error(`${other.port} does not follow ${primary.port} yet`)
  }
  return primary
}

async function namedBy(sentinel: RedisServer): Promise<number> {
  const [, port] = (await sentinel.command('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME)) as [string, string]
  return Number(port)
}

async function follows(server: RedisServer, primary: RedisServer): Promise<boolean> {
  const [role, , port, link] = (await server.command('ROLE')) as [string, string, number, string]
  return role === 'slave' && port === primary.port && link === 'connected'
}
