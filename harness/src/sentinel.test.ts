import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SentinelGroup, startSentinel } from './sentinel.ts'

// One group for all, in this order: the last test kills its primary.
let group: SentinelGroup

beforeAll(async () => {
  group = await startSentinel()
}, 20_000)

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
}, 20_000)

test('a killed primary is replaced by the replica, and follows it when it is back', async () => {
  const [first, second] = group.servers
  expect(await group.failover()).toBe(first)
  expect(second!.isUp).toBe(false)
  expect(await first!.command('SET', 'a', '3')).toBe('OK')
  await second!.restart()
  expect(await group.primary()).toBe(first)
  expect(await second!.command('GET', 'a')).toBe('3')
}, 20_000)
