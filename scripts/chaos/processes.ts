import { setTimeout as sleep } from 'node:timers/promises'
import { type RedisServer, startRedis } from 'sluice-harness'
import { type Incident, type Scenario, type Stage, scenario } from './scenario.ts'

/** A server of its own. */
export async function onServer(
  fault: (server: RedisServer, incident: Incident) => Promise<void>,
  args: readonly string[] = [],
): Promise<Stage> {
  const server = await startRedis({ args })
  return { target: server, fault: incident => fault(server, incident), stop: () => server.stop() }
}

/** After a second without a server, clients wait about as long before they try to connect again. */
const RECONNECT_MS = 2500

const killed = (name: string, special: Partial<Scenario> = {}) =>
  scenario(
    name,
    () =>
      onServer(async (server, incident) => {
        await server.kill()
        incident.forgot()
        await sleep(1000)
        await server.restart()
        incident.back()
      }),
    { recoversWithinMs: RECONNECT_MS, ...special },
  )

const stopped =
  (forMs: number, isRushed = false) =>
  () =>
    onServer(async (server, incident) => {
      server.pause()
      if (isRushed) incident.rush()
      await sleep(forMs)
      server.resume()
      incident.back()
    })

export const PROCESSES = [
  killed('SIGKILL, restarted empty after 1 s'),
  killed('SIGKILL, a client that connects again soon', { client: 'eager ioredis', recoversWithinMs: 1000 }),
  killed('SIGKILL, through node-redis', { client: 'node-redis' }),
  killed('SIGKILL, onOutage open', { onOutage: 'open' }),
  killed('SIGKILL, onOutage closed', { onOutage: 'closed' }),
  scenario('SIGSTOP for 5 s', stopped(5000)),
  scenario('SIGSTOP for 1 s, in a rush', stopped(1000, true)),
  scenario('SIGSTOP for 1 s, through node-redis', stopped(1000), { client: 'node-redis' }),
]
