import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RedisServer } from './redis-server.ts'
import { type SentinelGroup, startSentinel } from './sentinel.ts'
import { until } from './until.ts'

// One group for all, in this order: the last test kills its primary.
let group: SentinelGroup

beforeAll(async () => {
  group = await startSentinel()
}, 60_000)

afterAll(() => group.stop())

test('three sentinels agree on the primary', async () => {
  expect(group.sentinels).toHaveLength(3)
  expect(await group.primary()).toBe(group.servers[0])
  for (const sentinel of group.sentinels) {
    expect(await sentinel.command('SENTINEL', 'CKQUORUM', group.name)).toContain('OK 3 usable Sentinels')
  }
})

test('a failover by order makes the replica the primary and the primary its replica, with its data', async () => {
  const [first, second] = group.servers
  await first!.command('SET', 'a', '1')
  expect(await group.failover('order')).toBe(second)
  expect(await first!.command('GET', 'a')).toBe('1')
  await expect(first!.command('SET', 'a', '2')).rejects.toThrow('READONLY')
}, 60_000)

test('a failover that the sentinels refuse at first is ordered until they do it', async () => {
  const [first, second] = group.servers
  await givePriority(first!, 0)
  const refusedBefore = await refusals()
  const done = group.failover('order')
  await until('the order is refused', async () => (await refusals()) > refusedBefore)
  await givePriority(first!, 100)
  expect(await done).toBe(first)
  await expect(second!.command('SET', 'a', '2')).rejects.toThrow('READONLY')
}, 60_000)

test('a killed primary is replaced by the replica, and follows it when it is back', async () => {
  const [first, second] = group.servers
  expect(await group.failover()).toBe(second)
  expect(first!.isUp).toBe(false)
  expect(await second!.command('SET', 'a', '3')).toBe('OK')
  // On a busy machine they would take the new one for gone, too, and choose the old one, which is back without its data.
  for (const sentinel of group.sentinels) {
    await sentinel.command('SENTINEL', 'SET', group.name, 'down-after-milliseconds', '30000')
  }
  await first!.restart()
  expect(await group.primary()).toBe(second)
  expect(await first!.command('GET', 'a')).toBe('3')
}, 60_000)

/** Waits until the sentinel that is ordered knows: a replica of priority 0 is never made the primary. */
async function givePriority(replica: RedisServer, priority: number): Promise<void> {
  await replica.command('CONFIG', 'SET', 'replica-priority', String(priority))
  await until('the sentinel knows the priority', async () => {
    const [fields] = (await group.sentinels[0]!.command('SENTINEL', 'REPLICAS', group.name)) as [string[]]
    return fields[fields.indexOf('slave-priority') + 1] === String(priority)
  })
}

async function refusals(): Promise<number> {
  const stats = (await group.sentinels[0]!.command('INFO', 'stats')) as string
  return Number(/total_error_replies:(\d+)/.exec(stats)![1])
}
