import { LOOPBACK } from './boot.ts'
import { type RedisServer, startRedis } from './redis-server.ts'

export interface ClusterNode extends RedisServer {
  /** Its name in the cluster. */
  readonly id: string
  readonly busPort: number
  /** Asks the node for its current role, which failovers change. */
  role(): Promise<'primary' | 'replica'>
}

export interface NodeOptions {
  nodeTimeoutMs: number
  args: readonly string[]
}

/** Starts a server in cluster mode that knows no other node yet. */
export async function startNode({ nodeTimeoutMs, args }: NodeOptions): Promise<ClusterNode> {
  const server = await startRedis({
    args: port => [
      ...['--cluster-enabled', 'yes', '--cluster-config-file', 'nodes.conf', '--cluster-announce-ip', LOOPBACK],
      ...['--cluster-port', String(busPortOf(port)), '--cluster-node-timeout', String(nodeTimeoutMs)],
      // 0: a replica may stand for election however long ago it heard from its primary.
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

/** By default Redis adds 10,000 to the port, but free ports of the system are often too high for that. */
function busPortOf(port: number): number {
  return port > 20_000 ? port - 10_000 : port + 10_000
}
