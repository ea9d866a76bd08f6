import type { ClusterNode } from './cluster-node.ts'
import { isSettled, SLOTS, viewFrom } from './cluster-view.ts'
import { until } from './until.ts'

/** Makes a cluster of nodes that do not know each other. The first ones become primaries with equal shares of the slots. */
export async function formCluster(nodes: readonly ClusterNode[], primaries: number): Promise<void> {
  const shareStart = (i: number) => Math.round((i * SLOTS) / primaries)
  await Promise.all(
    nodes.map(async (node, i) => {
      // With different epochs from the start, the nodes have no epoch collisions to resolve.
      await node.command('CLUSTER', 'SET-CONFIG-EPOCH', String(i + 1))
      if (i >= primaries) return
      await node.command('CLUSTER', 'ADDSLOTSRANGE', String(shareStart(i)), String(shareStart(i + 1) - 1))
    }),
  )
  // Introduce every pair: by gossip alone, nodes take seconds to learn of each other.
  await Promise.all(nodes.flatMap((node, i) => nodes.slice(i + 1).map(other => meet(node, other))))
  await until('all nodes know each other', async () => {
    const views = await Promise.all(nodes.map(viewFrom))
    const isNew = (flags: readonly string[]) => flags.includes('handshake')
    return views.every(view => view.length === nodes.length && !view.some(({ flags }) => isNew(flags)))
  })
  await Promise.all(
    nodes.slice(primaries).map((node, i) => node.command('CLUSTER', 'REPLICATE', nodes[i % primaries]!.id)),
  )
  await until('the cluster is in order', () => isSettled(nodes), { withinMs: 15_000, everyMs: 50 })
}

async function meet(node: ClusterNode, { host, port, busPort }: ClusterNode): Promise<void> {
  await node.command('CLUSTER', 'MEET', host, String(port), String(busPort))
}
