import type { ClusterNode } from './cluster-node.ts'

export interface SlotMove {
  slot: number
  from: ClusterNode
  to: ClusterNode
  /** All primaries, since each of them must learn the new owner. */
  primaries: readonly ClusterNode[]
  keysPerStep: number
  /** Called during the move, before the first step and after each one, when clients get ASK. */
  onStep?: (() => Promise<void> | void) | undefined
}

/** Moves one slot as `redis-cli --cluster reshard` does, with a callback between its steps. */
export async function moveSlot({ slot, from, to, primaries, keysPerStep, onStep }: SlotMove): Promise<void> {
  const setSlot = (node: ClusterNode, state: string, id: string) =>
    node.command('CLUSTER', 'SETSLOT', String(slot), state, id)
  await setSlot(to, 'IMPORTING', from.id)
  await setSlot(from, 'MIGRATING', to.id)
  for (;;) {
    await onStep?.()
    const keys = (await from.command('CLUSTER', 'GETKEYSINSLOT', String(slot), String(keysPerStep))) as string[]
    if (keys.length === 0) break
    const moved = await from.command('MIGRATE', to.host, String(to.port), '', '0', '5000', 'KEYS', ...keys)
    if (moved !== 'OK') throw new Error(`MIGRATE of ${keys.length} keys of slot ${slot} answered ${moved}`)
  }
  // The new owner first, so that at every moment at least one node knows who owns the slot.
  for (const node of new Set([to, from, ...primaries])) await setSlot(node, 'NODE', to.id)
}
