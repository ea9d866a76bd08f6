import { Redis } from 'ioredis'
import { createClient } from 'redis'
import type { RedisClient } from 'sluice/redis'

/** Where a client finds its server. */
export type Target =
  | { readonly host: string; readonly port: number }
  | { readonly name: string; readonly sentinels: readonly { readonly host: string; readonly port: number }[] }

/** The eager client reconnects all the time; others wait longer and longer. */
export type ClientName = 'ioredis' | 'eager ioredis' | 'node-redis'

export interface Connected {
  readonly client: RedisClient
  /** When the client was last connected, in milliseconds of this process. */
  readonly readyAt: number
  close(): void
}

/** With a client's default settings: it queues commands while there is no connection, and sends some twice. */
export async function connect(name: ClientName, target: Target): Promise<Connected> {
  if (name === 'node-redis') return throughNodeRedis(target)
  return throughIoRedis(target, name === 'ioredis' ? {} : { retryStrategy: () => 100 })
}

async function throughIoRedis(target: Target, options: { retryStrategy?: () => number }): Promise<Connected> {
  const client =
    'host' in target
      ? new Redis(target.port, target.host, options)
      : new Redis({ name: target.name, sentinels: [...target.sentinels], ...options })
  return followed(client, () => client.disconnect())
}

async function throughNodeRedis(target: Target): Promise<Connected> {
  if (!('host' in target)) throw new Error('node-redis is not asked to use sentinels here')
  const client = createClient({ socket: { host: target.host, port: target.port } })
  const connected = followed(client, () => client.destroy())
  await client.connect()
  return connected
}

interface Emitter {
  on(event: 'ready' | 'error', listener: () => void): unknown
}

function followed(client: RedisClient & Emitter, close: () => void): Promise<Connected> {
  // The test breaks connections on purpose. Without a listener that would end the process.
  client.on('error', () => undefined)
  let readyAt = 0
  return new Promise(resolve => {
    const connected: Connected = {
      client,
      get readyAt() {
        return readyAt
      },
      close,
    }
    client.on('ready', () => {
      readyAt = performance.now()
      resolve(connected)
    })
  })
}
