import { Cluster, Redis } from 'ioredis'
import { memoryStore, SluiceError, type Store } from 'sluice'
import { redisStore, type StoreEvent } from 'sluice/redis'

/** Envoy waits 20 ms for an answer and then goes without. */
const DEADLINE_MS = 10

export interface OpenStore {
  readonly store: Store
  readonly kind: 'memory' | 'redis'
  close(): Promise<void>
}

/** Whether several processes can keep their counts together there. */
export function isSharedStore(address: string): boolean {
  return address !== '' && address !== 'memory'
}

/** The store an address names: `memory`, `redis://…`, `rediss://…` or `redis-cluster://a:7000,b:7000`. */
export function storeFrom(address: string, onEvent: (event: StoreEvent) => void, onOverflow: () => void): OpenStore {
  if (!isSharedStore(address)) {
    const store = memoryStore({ onOverflow })
    return { store, kind: 'memory', close: async () => store.close() }
  }
  const client = clientFor(address)
  // What goes wrong reaches the store by its calls; unheard, an error would end the process.
  client.on('error', () => {})
  const store = redisStore(client, { deadline: DEADLINE_MS, onEvent })
  return {
    store,
    kind: 'redis',
    async close() {
      await store.close()
      client.disconnect()
    },
  }
}

function clientFor(address: string): Redis | Cluster {
  if (address.startsWith('redis-cluster://')) return clusterFor(address)
  if (/^rediss?:\/\//.test(address)) return new Redis(address)
  // The address may hold a password, so it is not shown.
  throw new SluiceError('SLUICE_BAD_OPTION', 'expected a store memory, redis://…, rediss://… or redis-cluster://…')
}

/** `redis-cluster://user:password@a:7000,b:7000`. */
function clusterFor(address: string): Cluster {
  const [, user, password, hosts = ''] = /^redis-cluster:\/\/(?:([^:@]*)(?::([^@]*))?@)?(.*?)\/?$/.exec(address) ?? []
  const nodes = hosts.split(',').map(node => {
    const [, host, port] = /^(.+):(\d+)$/.exec(node.trim()) ?? []
    if (host === undefined) {
      throw new SluiceError('SLUICE_BAD_OPTION', `expected redis-cluster://host:port,host:port, got a node '${node}'`)
    }
    return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
  })
  return new Cluster(nodes, {
    redisOptions: {
      ...(user !== undefined && user !== '' && { username: decodeURIComponent(user) }),
      ...(password !== undefined && { password: decodeURIComponent(password) }),
    },
  })
}
