import { Cluster, Redis } from 'ioredis'
import { createClient } from 'redis'
import { type RedisClient, type RedisStore, type RedisStoreOptions, redisStore } from 'sluice/redis'
import { type RedisServer, startCluster, startRedis } from 'sluice-harness'
import { RedisGauge } from './gauge.ts'

export type NodeRedis = ReturnType<typeof createClient>

/** Servers of our own on loopback TCP, and clients that go when the case is through. */
export class Site {
  readonly servers: readonly RedisServer[]
  readonly gauge: RedisGauge
  private readonly closers: (() => unknown)[] = []

  constructor(servers: readonly RedisServer[]) {
    this.servers = servers
    this.gauge = new RedisGauge(servers)
  }

  get server(): RedisServer {
    return this.servers[0]!
  }

  ioredis({ enableAutoPipelining = false } = {}): Redis {
    const { host, port } = this.server
    const client = new Redis({ host, port, enableAutoPipelining })
    this.closers.push(() => client.disconnect())
    return client
  }

  cluster(): Cluster {
    const client = new Cluster(this.servers.map(({ host, port }) => ({ host, port })))
    this.closers.push(() => client.disconnect())
    return client
  }

  async nodeRedis(): Promise<NodeRedis> {
    const { host, port } = this.server
    const client: NodeRedis = createClient({ socket: { host, port } })
    await client.connect()
    this.closers.push(() => client.destroy())
    return client
  }

  store(client: RedisClient, options?: RedisStoreOptions): RedisStore {
    const store = redisStore(client, options)
    this.closers.push(() => store.close())
    return store
  }

  async close(): Promise<void> {
    for (const close of this.closers.reverse()) await close()
  }
}

export type Place = (work: (site: Site) => Promise<void>) => Promise<void>

export const atServer: Place = async work => {
  const server = await startRedis()
  await within(new Site([server]), work, () => server.stop())
}

export const atCluster: Place = async work => {
  const cluster = await startCluster({ primaries: 3, replicas: 0 })
  await within(new Site(cluster.nodes), work, () => cluster.stop())
}

async function within(site: Site, work: (site: Site) => Promise<void>, stop: () => Promise<void>): Promise<void> {
  try {
    await work(site)
  } finally {
    await site.close()
    await stop()
  }
}
