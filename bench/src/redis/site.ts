import { Cluster, Redis } from 'ioredis'
import { createClient } from 'redis'
import { type RedisClient, type RedisStore, type RedisStoreOptions, redisStore } from 'sluice/redis'
import { ask, type RedisServer, startCluster, startRedis } from 'sluice-harness'
import type { Address } from './crew.ts'

export type NodeRedis = ReturnType<typeof createClient>

/** A Redis server that this or another process of the benchmark has started. */
export type Server = Pick<RedisServer, 'host' | 'port' | 'command'>

export function serverAt({ host, port }: Address): Server {
  return { host, port, command: (...words) => ask({ host, port }, words) }
}

/** Redis servers on loopback TCP, and clients that are closed when the case is over. */
export class Site {
  readonly servers: readonly Server[]
  /** The contestant's number, which keeps its keys apart from those of others. */
  readonly number: number
  private readonly closers: (() => unknown)[] = []

  constructor(servers: readonly Server[], number = 0) {
    this.servers = servers
    this.number = number
  }

  get server(): Server {
    return this.servers[0]!
  }

  store(client: RedisClient, options?: RedisStoreOptions): RedisStore {
    const store = redisStore(client, options)
    this.onClose(() => store.close())
    return store
  }

  onClose(closer: () => unknown): void {
    this.closers.push(closer)
  }

  async close(): Promise<void> {
    for (const close of this.closers.reverse()) await close()
  }
}

/** Makes a client for the servers of a site. */
export type Client<C> = (site: Site) => C | Promise<C>

export function ioredis(site: Site, { enableAutoPipelining = false } = {}): Redis {
  const { host, port } = site.server
  const client = new Redis({ host, port, enableAutoPipelining })
  site.onClose(() => client.disconnect())
  return client
}

export function cluster(site: Site): Cluster {
  const client = new Cluster(site.servers.map(({ host, port }) => ({ host, port })))
  site.onClose(() => client.disconnect())
  return client
}

export async function nodeRedis(site: Site): Promise<NodeRedis> {
  const { host, port } = site.server
  const client: NodeRedis = createClient({ socket: { host, port } })
  await client.connect()
  site.onClose(() => client.destroy())
  return client
}

export type Place = (work: (site: Site) => Promise<void>) => Promise<void>

export const atServer: Place = async work => {
  const server = await startRedis()
  await within(new Site([server]), work, () => server.stop())
}

export const atCluster: Place = async work => {
  const { nodes, stop } = await startCluster({ primaries: 3, replicas: 0 })
  await within(new Site(nodes), work, stop)
}

async function within(site: Site, work: (site: Site) => Promise<void>, stop: () => Promise<void>): Promise<void> {
  try {
    await work(site)
  } finally {
    await site.close()
    await stop()
  }
}
