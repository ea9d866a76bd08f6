import type { ClusterNode } from './cluster-node.ts'

export const SLOTS = 16_384

/** One line of CLUSTER NODES: what a node believes of another node or of itself. */
export interface NodeView {
  id: string
  flags: readonly string[]
  /** The id of its primary. */
  follows: string | undefined
  epoch: number
  /** First and last slot of each range it serves. */
  ranges: readonly (readonly [first: number, last: number])[]
}

export async function viewFrom(node: ClusterNode): Promise<NodeView[]> {
  const text = String(await node.command('CLUSTER', 'NODES'))
  return text.trimEnd().split('\n').map(parseLine)
}

/** `id ip:port@bus flags primary ping pong epoch link slots…`, where `[93-<-id]` is a slot on the move. */
function parseLine(line: string): NodeView {
  const [id, , flags, follows, , , epoch, , ...slots] = line.split(' ')
  const ranges = slots
    .filter(slot => !slot.startsWith('['))
    .map(slot => {
      const [first, last = first] = slot.split('-')
      return [Number(first), Number(last)] as const
    })
  return {
    id: id!,
    flags: flags!.split(','),
    follows: follows === '-' ? undefined : follows,
    epoch: Number(epoch),
    ranges,
  }
}

/** The node that claims the slot. After a failover the old primary may claim it, too: the newest epoch wins. */
export async function ownerOf(slot: number, nodes: readonly ClusterNode[]): Promise<ClusterNode | undefined> {
  const claims = await Promise.allSettled(
    nodes
      .filter(node => node.isUp)
      .map(async node => ({ node, self: (await viewFrom(node)).find(({ flags }) => flags.includes('myself'))! })),
  )
  const owners = claims
    .flatMap(claim => (claim.status === 'fulfilled' ? [claim.value] : []))
    .filter(({ self }) => self.ranges.some(([first, last]) => first <= slot && slot <= last))
  return owners.sort((a, b) => b.self.epoch - a.self.epoch)[0]?.node
}

/** Whether all nodes that are up agree, report the cluster as ok, and replicate. */
export async function isSettled(nodes: readonly ClusterNode[]): Promise<boolean> {
  const up = nodes.filter(node => node.isUp)
  const upIds = new Set(up.map(node => node.id))
  const accounts = await Promise.all(
    up.map(async node => {
      const [view, info, role] = await Promise.all([
        viewFrom(node),
        node.command('CLUSTER', 'INFO'),
        node.command('ROLE') as Promise<unknown[]>,
      ])
      const isContent =
        String(info).includes('cluster_state:ok') &&
        (role[0] === 'master' || role[3] === 'connected') &&
        view.length === nodes.length &&
        view.every(({ id, flags, ranges }) => (upIds.has(id) ? !flags.some(isTrouble) : ranges.length === 0))
      return isContent ? accountOf(view) : undefined
    }),
  )
  return accounts.every(account => account !== undefined && account === accounts[0])
}

const isTrouble = (flag: string) => ['fail?', 'fail', 'handshake', 'noaddr'].includes(flag)

function accountOf(view: readonly NodeView[]): string {
  const lines = view.map(({ id, follows, ranges }) => JSON.stringify([id, follows, ranges]))
  return lines.sort().join()
}
