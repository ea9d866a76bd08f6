import { setTimeout as sleep } from 'node:timers/promises'
import { type RedisServer, startRedis, startSentinel, until } from 'sluice-harness'
import { type Stage, scenario } from './scenario.ts'

/** Time that the sentinels, the servers and the client need for a failover. */
const FAILOVER_MS = 5000

/** Kills the primary; its replica takes over with what it had received by then. */
async function failover(): Promise<Stage> {
  const group = await startSentinel()
  const [primary, replica] = group.servers as [RedisServer, RedisServer]
  const isPrimary = async () => ((await replica.command('ROLE')) as [string])[0] === 'master'
  return {
    target: { name: group.name, sentinels: group.sentinels },
    async fault(incident) {
      await primary.kill()
      incident.forgot()
      await until('the replica has taken over', isPrimary, { withinMs: 15_000 })
      incident.back()
    },
    stop: () => group.stop(),
  }
}

/** Makes the server a replica of an empty one, then a primary again. */
async function demoted(): Promise<Stage> {
  const [server, other] = await Promise.all([startRedis(), startRedis()])
  return {
    target: server,
    async fault(incident) {
      await server.command('REPLICAOF', other.host, String(other.port))
      incident.forgot()
      const link = async () => ((await server.command('ROLE')) as string[])[3] === 'connected'
      await Promise.all([until('it follows', link), sleep(1000)])
      await server.command('REPLICAOF', 'NO', 'ONE')
      incident.back()
    },
    stop: () => Promise.all([server.stop(), other.stop()]),
  }
}

export const REPLICATION = [
  scenario('Sentinel failover', failover, { recoversWithinMs: FAILOVER_MS, forgetful: true }),
  scenario('a replica: READONLY for 1 s', demoted),
]
