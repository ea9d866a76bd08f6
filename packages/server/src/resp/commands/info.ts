import type { ThrottleStats } from '../throttle/throttle.ts'
import type { RespStats } from './command.ts'

/** The Redis version whose protocol this speaks. Clients choose by it what they send. */
export const REDIS_VERSION = '7.0.0'

/** The answer to INFO in the form of Redis. Clients check `loading` before they call a server ready. */
export function infoText(asked: readonly string[], stats: RespStats, throttle: ThrottleStats | undefined): string {
  const { user, system } = process.cpuUsage()
  const sections: Record<string, Record<string, string | number>> = {
    Server: { redis_version: REDIS_VERSION, redis_mode: 'standalone', process_id: process.pid },
    Clients: { connected_clients: stats.connections },
    Persistence: { loading: 0 },
    Stats: {
      total_connections_received: stats.accepted,
      total_commands_processed: stats.commands,
      rejected_connections: stats.turnedAway,
      throttle_allowed: stats.allowed,
      throttle_limited: stats.limited,
      ...(throttle && { throttle_keys: throttle.keys, throttle_overflowed: throttle.overflowed }),
    },
    Replication: { role: 'master' },
    CPU: { used_cpu_sys: (system / 1e6).toFixed(6), used_cpu_user: (user / 1e6).toFixed(6) },
  }
  const all = asked.length === 0 || asked.some(name => ['all', 'default', 'everything'].includes(name))
  return Object.entries(sections)
    .filter(([name]) => all || asked.includes(name.toLowerCase()))
    .map(([name, fields]) => [`# ${name}`, ...Object.entries(fields).map(field => field.join(':')), ''].join('\r\n'))
    .join('\r\n')
}
