import { Cluster, Redis } from 'ioredis'
import { type Clock, memoryStore, SluiceError, type Store } from 'sluice'
import { redisStore, type StoreEvent } from 'sluice/redis'

/** Envoy waits 20 ms for an answer by default and then lets the request pass. */
const DEADLINE_MS = 10
/** A first connection takes longer. The service waits for it before the doors open, so that no caller has to. */
const CONNECT_WITHIN_MS = 1000

export interface OpenStore {
  readonly store: Store
  readonly kind: 'memory' | 'redis'
  /** Resolves when the store is ready, or when the wait for it has timed out. */
  readonly connected: Promise<void>
  close(): Promise<void>
}

/** Whether several processes can share their counts in this store. */
export function isSharedStore(address: string): boolean {
  return address !== '' && address !== 'memory'
}

/**
 * The store that an address names: `memory`, `redis://…`, `rediss://…` or `redis-cluster://a:7000,b:7000`. Only memory
 * uses `clock`; Redis has its own.
 */
export function storeFrom(
  address: string,
  onEvent: (event: StoreEvent) => void,
  onOverflow: () => void,
  clock?: Clock,
): OpenStore {
  if (!isSharedStore(address)) {
    const store = memoryStore({ onOverflow, ...(clock && { clock }) })
    return { store, kind: 'memory', connected: Promise.resolve(), close: async () => store.close() }
  }
  const client = clientFor(address)
  // Failed calls tell the store about errors. An 'error' event without a listener would end the process.
  client.on('error', () => {})
  const store = redisStore(client, { deadline: `${DEADLINE_MS}ms`, connectWait: `${DEADLINE_MS}ms`, onEvent })
  return {
    store,
    kind: 'redis',
    connected: firstConnection(client),
    async close() {
      await store.close()
      client.disconnect()
    },
  }
}

function firstConnection(client: Redis | Cluster): Promise<void> {
  return new Promise(resolve => {
    const timer = setTimeout(resolve, CONNECT_WITHIN_MS)
    for (const event of ['ready', 'end']) {
      client.once(event, () => {
        clearTimeout(timer)
        resolve()
      })
    }
  })
}

/**
 * Reconnects within a tenth of a second, where ioredis would wait ever longer. Commands of a lost connection are not sent
 * again: their callers no longer wait, and the store then never has to recognize duplicates.
 */
const RETRY_MS = 100
const CLIENT = { retryStrategy: () => RETRY_MS, autoResendUnfulfilledCommands: false } as const

/** An address may hold a password, so error messages about it do not show it. */
function clientFor(address: string): Redis | Cluster {
  try {
    if (address.startsWith('redis-cluster://')) return clusterFor(address)
    if (isRedisUrl(address)) return new Redis(address, CLIENT)
  } catch {
    // The address is invalid. The message of the error would show it.
  }
  throw new SluiceError(
    'SLUICE_BAD_OPTION',
    'expected a store memory, redis://user:password@host:port/db, rediss://… or redis-cluster://host:port,host:port; ' +
      'in a password, write signs such as @ and / as %40 and %2F',
  )
}

function isRedisUrl(address: string): boolean {
  if (!/^rediss?:\/\//.test(address)) return false
  const { hostname, pathname } = new URL(address)
  return hostname !== '' && /^(\/\d*)?$/.test(pathname)
}

/** Parses `redis-cluster://user:password@a:7000,b:7000`; throws if it is invalid. */
function clusterFor(address: string): Cluster {
  const [, user, password, hosts = ''] =
    /^redis-cluster:\/\/(?:([^:@]*)(?::([^@]*))?@)?([^@]*?)\/?$/.exec(address) ?? []
  const nodes = hosts.split(',').map(node => new URL(`redis://${node.trim()}`))
  if (!nodes.every(({ hostname, port }) => hostname !== '' && port !== '')) {
    throw new TypeError('a node without a host or a port')
  }
  return new Cluster(
    nodes.map(({ hostname, port }) => ({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) })),
    {
      clusterRetryStrategy: () => RETRY_MS,
      redisOptions: {
        ...CLIENT,
        ...(user !== undefined && user !== '' && { username: decodeURIComponent(user) }),
        ...(password !== undefined && { password: decodeURIComponent(password) }),
      },
    },
  )
}
