import { LOOPBACK } from './boot.ts'
import { type RedisServer, startRedis } from './redis-server.ts'

export interface ClusterNode extends RedisServer {
  /** The name the cluster knows it by. */
  readonly id: string
  readonly busPort: number
  /** As the node sees itself now: failovers change it. */
  role(): Promise<'primary' | 'replica'>
}

export interface NodeOptions {
  nodeTimeoutMs: number
  args: readonly string[]
}

/** A server in cluster mode that knows no other node yet. */
export async function startNode({ nodeTimeoutMs, args }: NodeOptions): Promise<ClusterNode> {
  const server = await startRedis({
    args: port => [
      ...['--cluster-enabled', 'yes', '--cluster-config-file', 'nodes.conf', '--cluster-announce-ip', LOOPBACK],
      ...['--cluster-port', String(busPortOf(port)), '--cluster-node-timeout', String(nodeTimeoutMs)],
      // A replica stands for election however long it has not heard from its primary.
      ...['--cluster-replica-validity-factor', '0'],
      ...args,
    ],
  })
  return Object.assign(server, {
    id: String(await server.command('CLUSTER', 'MYID')),
    busPort: busPortOf(server.port),
    async role() {
      const [name] = (await server.command('ROLE')) as [string]
      return name === 'master' ? ('primary' as const) : ('replica' as const)
    },
  })
}

/** Redis takes 10000 more than the port, but ports that the system hands out are often too high for that. */
function busPortOf(port: number): number {
  return port > 20_000 ? port - 10_000 : port + 10_000
}
