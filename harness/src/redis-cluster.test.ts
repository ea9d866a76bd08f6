import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RedisCluster, startCluster } from './redis-cluster.ts'

// One cluster for all, in this order: it takes seconds to form, and the last test breaks it.
let cluster: RedisCluster

beforeAll(async () => {
  cluster = await startCluster()
}, 20_000)

afterAll(() => cluster.stop())

test('every node finds it in order', async () => {
  for (const node of cluster.nodes) {
    const info = await node.command('CLUSTER', 'INFO')
    expect(info).toContain('cluster_state:ok')
    expect(info).toContain('cluster_slots_assigned:16384')
    expect(info).toContain('cluster_known_nodes:6')
  }
})

test('there are three primaries with a connected replica each', async () => {
  const roles = await Promise.all(cluster.nodes.map(node => node.role()))
  expect(roles).toEqual(['primary', 'primary', 'primary', 'replica', 'replica', 'replica'])
  for (const node of cluster.nodes.slice(0, 3)) {
    expect(await node.command('INFO', 'replication')).toContain('connected_slaves:1')
  }
})

test('the node of a slot serves its keys, and the others say where it is', async () => {
  const slot = await cluster.slotOf('{a}1')
  expect(await cluster.slotOf('{a}2')).toBe(slot)
  const owner = await cluster.nodeOf(slot)
  expect(await owner.command('SET', '{a}1', 'x')).toBe('OK')
  const other = cluster.nodes.slice(0, 3).find(node => node !== owner)!
  await expect(other.command('GET', '{a}1')).rejects.toThrow(`MOVED ${slot} ${owner.host}:${owner.port}`)
})

test('a slot moves with its keys, and clients are asked to look elsewhere meanwhile', async () => {
  const keys = Array.from({ length: 25 }, (_, i) => `{b}é${i}`)
  const slot = await cluster.slotOf('{b}')
  const from = await cluster.nodeOf(slot)
  const to = cluster.nodes.slice(0, 3).find(node => node !== from)!
  for (const key of keys) await from.command('SET', key, key)

  const left: unknown[] = []
  await cluster.migrateSlot(slot, to, {
    async onStep() {
      left.push(await from.command('CLUSTER', 'COUNTKEYSINSLOT', String(slot)))
      await expect(from.command('GET', '{b}missing')).rejects.toThrow(`ASK ${slot} ${to.host}:${to.port}`)
    },
  })
  expect(left).toEqual([25, 15, 5, 0])
  expect(await cluster.nodeOf(slot)).toBe(to)
  expect(await Promise.all(keys.map(key => to.command('GET', key)))).toEqual(keys)
  for (const node of cluster.nodes.filter(one => one !== to)) {
    await expect(node.command('GET', keys[0]!)).rejects.toThrow(`MOVED ${slot} ${to.host}:${to.port}`)
  }
}, 15_000)

test('when a primary dies, its replica takes over, and it comes back as a replica', async () => {
  const slot = await cluster.slotOf('c')
  const dead = await cluster.killPrimaryOf(slot)
  await cluster.settled()
  const successor = await cluster.nodeOf(slot)
  expect(cluster.nodes.indexOf(successor)).toBe(cluster.nodes.indexOf(dead) + 3)
  expect(await successor.command('SET', 'c', '1')).toBe('OK')

  await dead.restart()
  await cluster.settled()
  expect(await dead.role()).toBe('replica')
}, 25_000)
