import { afterUnref, type Clock, TICKS_PER_MS, toTicks } from '../../clock.ts'
import { StoreUnavailable } from '../../errors.ts'
import type { Maybe } from '../../maybe.ts'
import { Charge } from '../../stores/charge.ts'
import type { Space } from '../../stores/limit.ts'
import type { Change } from '../../stores/store.ts'

type BlockChange = Extract<Change, { type: 'block' }>
type RefundChange = Extract<Change, { type: 'refund' }>

interface KeptChange<C> {
  readonly change: C
  /** The tick of the local clock after which the change has no effect. */
  readonly until: number
  /** Why the store has not carried the change out. */
  readonly error: StoreUnavailable
}

const RETRY_MS = 1000
/** After this long, most of what a refund gives back has come back by itself. */
const REFUND_TICKS = 3_600_000 * TICKS_PER_MS
const MOST_KEPT = 10_000
/** How many changes are sent together, so that a store that is just back is not flooded with all of them. */
const BATCH = 100

/**
 * Keeps blocks and refunds that a store could not carry out until it can. Only these two are safe to carry out late. A
 * block is sent with the time it has left, and sending it twice does no harm; meanwhile this process refuses the key
 * itself. A refund is kept only if it was never sent. Its receipt tells: a store clears the receipt before the refund
 * may arrive.
 */
export class KeptChanges {
  private readonly clock: Clock
  private readonly carryOut: (changes: readonly Change[]) => Maybe<number[]>
  private readonly dropped: (error: unknown) => void
  /** By limit number and key. */
  private readonly blocks = new Map<string, KeptChange<BlockChange>>()
  private readonly spaces: Space[] = []
  private readonly refunds = new Map<Charge, KeptChange<RefundChange>>()
  private cancelRetry: (() => void) | undefined
  private closed = false

  /** `dropped` is called with the reason when a kept change is never carried out. */
  constructor(
    clock: Clock,
    carryOut: (changes: readonly Change[]) => Maybe<number[]>,
    dropped: (error: unknown) => void,
  ) {
    this.clock = clock
    this.carryOut = carryOut
    this.dropped = dropped
  }

  /** Returns false if the change cannot be kept: it is of another kind, it may have arrived, or too many are kept. */
  keep(change: Change, error: StoreUnavailable): boolean {
    if (this.closed || !this.hasRoom(change)) return false
    const now = toTicks(this.clock.now())
    if (change.type === 'block')
      this.blocks.set(this.placeOf(change.charge), { change, until: now + change.ticks, error })
    else if (change.type === 'refund' && change.charge.taken) {
      this.refunds.set(change.charge, { change, until: now + REFUND_TICKS, error })
    } else return false
    this.retryLater()
    return true
  }

  /** Drops a block kept before for the same key: the newer change counts. */
  supersede(changes: readonly Change[]): void {
    if (this.blocks.size === 0) return
    for (const { type, charge } of changes) {
      if (type === 'block' || type === 'unblock' || type === 'reset') this.blocks.delete(this.placeOf(charge))
    }
  }

  /** Refuses the charges whose keys are blocked here. Returns whether there are any. */
  refuse(charges: readonly Charge[]): boolean {
    if (this.blocks.size === 0) return false
    const now = toTicks(this.clock.now())
    let some = false
    for (const charge of charges) {
      const block = this.blocks.get(this.placeOf(charge))
      if (block === undefined || block.until <= now) continue
      charge.at = now
      charge.allowed = false
      charge.used = charge.rule.limit * charge.rule.perRequest
      charge.retryAt = block.until
      charge.resetAt = block.until
      charge.blocked = true
      charge.outage = block.error
      some = true
    }
    return some
  }

  close(): void {
    this.closed = true
    this.cancelRetry?.()
    const [lost] = [...this.blocks.values(), ...this.refunds.values()]
    this.blocks.clear()
    this.refunds.clear()
    if (lost !== undefined) this.dropped(lost.error)
  }

  private hasRoom({ charge }: Change): boolean {
    return this.size < MOST_KEPT || this.refunds.has(charge) || this.blocks.has(this.placeOf(charge))
  }

  private placeOf({ limit, key }: Charge): string {
    const known = this.spaces.indexOf(limit.space)
    return `${known >= 0 ? known : this.spaces.push(limit.space) - 1} ${key}`
  }

  private get size(): number {
    return this.blocks.size + this.refunds.size
  }

  private retryLater(): void {
    if (this.closed || this.size === 0) return
    this.cancelRetry ??= afterUnref(this.clock, RETRY_MS, () => void this.retry())
  }

  private async retry(): Promise<void> {
    const kept = [...this.blocks.values(), ...this.refunds.values()]
    for (let i = 0; i < kept.length; i += BATCH) await this.retryBatch(kept.slice(i, i + BATCH))
    this.cancelRetry = undefined
    this.retryLater()
  }

  private async retryBatch(batch: readonly KeptChange<BlockChange | RefundChange>[]): Promise<void> {
    const now = toTicks(this.clock.now())
    const due = batch.filter(kept => this.isDue(kept, now))
    if (due.length === 0) return
    let amounts: number[]
    try {
      amounts = await this.carryOut(due.map(({ change, until }) => asOf(change, until - now)))
    } catch (error) {
      if (error instanceof StoreUnavailable) {
        // A refund that may have arrived is not sent again.
        for (const kept of due) if (kept.change.type === 'refund' && !kept.change.charge.taken) this.end(kept, error)
        return
      }
      for (const kept of due) this.end(kept, error)
      return
    }
    for (const [i, kept] of due.entries()) {
      const hadNoRoom = kept.change.type === 'block' && amounts[i] === 0
      this.end(kept, hadNoRoom ? kept.error : undefined)
    }
  }

  /** Whether the change is still to be carried out. */
  private isDue(kept: KeptChange<BlockChange | RefundChange>, now: number): boolean {
    const { change, until, error } = kept
    if (!this.has(kept)) return false
    // Another call has refunded the charge meanwhile.
    if (change.type === 'refund' && !change.charge.taken) this.end(kept)
    else if (until <= now) this.end(kept, error)
    else return true
    return false
  }

  /** Forgets a change, unless a newer one has taken its place. */
  private has(kept: KeptChange<BlockChange | RefundChange>): boolean {
    const { change } = kept
    return change.type === 'refund'
      ? this.refunds.has(change.charge)
      : this.blocks.get(this.placeOf(change.charge)) === kept
  }

  private end(kept: KeptChange<BlockChange | RefundChange>, error?: unknown): void {
    if (!this.has(kept)) return
    const { change } = kept
    if (change.type === 'refund') this.refunds.delete(change.charge)
    else this.blocks.delete(this.placeOf(change.charge))
    if (error !== undefined) this.dropped(error)
  }
}

function asOf(change: BlockChange | RefundChange, ticks: number): BlockChange | RefundChange {
  if (change.type === 'refund') return change
  const { limit, rule, key, cost, role } = change.charge
  return { type: 'block', charge: new Charge(limit, rule, key, cost, role), ticks }
}
