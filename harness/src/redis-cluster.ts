import { allOrNone, stopAll } from './all-or-none.ts'
import { formCluster } from './cluster-form.ts'
import { type ClusterNode, startNode } from './cluster-node.ts'
import { isSettled, ownerOf } from './cluster-view.ts'
import { moveSlot, type SlotMove } from './slot-move.ts'
import { until } from './until.ts'

export interface ClusterOptions {
  primaries?: number
  replicas?: number
  /** A node is suspected after this long without an answer. A failover takes about twice as long plus a second. */
  nodeTimeoutMs?: number
  /** Further arguments for every node. */
  args?: readonly string[]
}

export interface RedisCluster {
  readonly nodes: readonly ClusterNode[]
  slotOf(key: string): Promise<number>
  /** The primary that serves the slot. While there is none, waits for one. */
  nodeOf(slot: number): Promise<ClusterNode>
  migrateSlot(slot: number, to: ClusterNode, options?: Partial<Pick<SlotMove, 'keysPerStep' | 'onStep'>>): Promise<void>
  /** Kills the primary of the slot and resolves to it at once, before the other nodes have noticed. */
  killPrimaryOf(slot: number): Promise<ClusterNode>
  /** Waits until all nodes that are up agree that the cluster is in order. */
  settled(): Promise<void>
  stop(): Promise<void>
}

/** Starts a real cluster. This takes two seconds, because a new primary refuses to serve for that long. */
export async function startCluster({
  primaries = 3,
  replicas = 3,
  nodeTimeoutMs = 1000,
  args = [],
}: ClusterOptions = {}): Promise<RedisCluster> {
  const starting = Array.from({ length: primaries + replicas }, () => startNode({ nodeTimeoutMs, args }))
  const nodes = await allOrNone(starting)
  try {
    await formCluster(nodes, primaries)
  } catch (error) {
    await stopAll(nodes)
    throw error
  }

  const nodeOf = (slot: number) =>
    until(`a node serves slot ${slot}`, () => ownerOf(slot, nodes), { withinMs: 15_000, everyMs: 50 })
  const settled = async () => {
    await until('the cluster is in order again', () => isSettled(nodes), { withinMs: 15_000, everyMs: 50 })
  }
  return {
    nodes,
    async slotOf(key) {
      const node = nodes.find(({ isUp }) => isUp)
      if (node === undefined) throw new Error('No node of the cluster is up')
      return Number(await node.command('CLUSTER', 'KEYSLOT', key))
    },
    nodeOf,
    async migrateSlot(slot, to, { keysPerStep = 10, onStep } = {}) {
      const from = await nodeOf(slot)
      if (from === to) return
      const up = nodes.filter(({ isUp }) => isUp)
      const roles = await Promise.all(up.map(node => node.role()))
      const others = up.filter((_, i) => roles[i] === 'primary')
      await moveSlot({ slot, from, to, primaries: others, keysPerStep, onStep })
      await settled()
    },
    async killPrimaryOf(slot) {
      const node = await nodeOf(slot)
      await node.kill()
      return node
    },
    settled,
    stop: () => stopAll(nodes),
  }
}
