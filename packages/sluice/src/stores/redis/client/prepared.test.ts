import * as fc from 'fast-check'
import { Cluster, Redis } from 'ioredis'
import { Redis as Valkey, Cluster as ValkeyCluster } from 'iovalkey'
import { describe, expect, test } from 'vitest'
import { ioredis } from '../../../fixtures/redis/clients.ts'
import { server, withOwnServer } from '../../../fixtures/redis/own-server.ts'
import { createLimiter, tokenBucket } from '../../../index.ts'
import { redisStore } from '../redis-store.ts'
import { linkOf } from './client.ts'

withOwnServer()

/** As much of a command as says where it goes, and as which bytes. */
interface Command {
  readonly name: string
  getSlot(): number
  toWritable(): string | Uint8Array
}

const SHA = 'a'.repeat(40)
const lazy = { lazyConnect: true }
const clients: [string, () => Redis | Cluster | Valkey | ValkeyCluster][] = [
  ['ioredis', () => new Redis(lazy)],
  ['a cluster of ioredis', () => new Cluster([], lazy)],
  ['iovalkey', () => new Valkey(lazy)],
  ['a cluster of iovalkey', () => new ValkeyCluster([], lazy)],
]

/** The commands that a client would send meanwhile. */
function sentBy(client: object, send: () => unknown): Command[] {
  const commands: Command[] = []
  Object.assign(client, { sendCommand: (command: Command) => commands.push(command) })
  send()
  return commands
}

const words = fc.array(fc.string({ unit: 'binary', maxLength: 300 }), { maxLength: 5 })

describe.each(clients)('a call through %s', (_, open) => {
  test('is of the bytes, and goes to the slot, that the client itself would choose', () => {
    const client = open()
    const link = linkOf(client)
    const { evalshaBuffer } = client as unknown as { evalshaBuffer(...args: unknown[]): unknown }
    const own = (keys: readonly string[], args: readonly string[]) =>
      sentBy(client, () => evalshaBuffer.call(client, SHA, keys.length, ...keys, ...args))[0]!
    fc.assert(
      fc.property(fc.string(), words, words, (first, more, args) => {
        const keys = [first, ...more]
        const ours = sentBy(client, () => link.evalsha(SHA, keys, args))[0]!
        const theirs = own(keys, args)
        expect(Buffer.from(ours.toWritable())).toEqual(Buffer.from(theirs.toWritable()))
        // Once more, after a connection is lost.
        expect(ours.toWritable()).toEqual(theirs.toWritable())
        expect(ours.getSlot()).toBe(theirs.getSlot())
        expect(ours.name).toBe(theirs.name)
      }),
    )
    client.disconnect()
  })

  test('is prepared here: the client does not see to its arguments', () => {
    const client = open()
    const link = linkOf(client)
    Object.assign(client, { evalshaBuffer: () => expect.unreachable() })
    expect(sentBy(client, () => link.evalsha(SHA, ['a', 'b'], ['1']))).toHaveLength(1)
    client.disconnect()
  })
})

test('looking for how a client makes its commands sends none', () => {
  const client = new Redis(lazy)
  expect(sentBy(client, () => linkOf(client))).toEqual([])
  expect(client.status).toBe('wait')
  client.disconnect()
})

test.each([
  ['puts a prefix before keys', { keyPrefix: 'app:' }, ['app:']],
  ['makes pipelines by itself', { enableAutoPipelining: true }, ['']],
])('a client that %s still does', async (_, options, [prefix]) => {
  const client = await ioredis(server, options)
  const plain = await ioredis(server)
  await plain.flushall()
  const store = redisStore(client, { deadline: '1s' })
  const limiter = createLimiter(tokenBucket({ capacity: 5, refill: '1/h' }), { store })
  expect(await limiter.consume('a')).toMatchObject({ allowed: true, degraded: false, remaining: 4 })
  const names = (await plain.keys('*')).filter(name => name.endsWith(':a'))
  expect(names).toHaveLength(1)
  expect(names[0]!.startsWith(`${prefix}{`)).toBe(true)
  await store.close()
  client.disconnect()
  plain.disconnect()
})
