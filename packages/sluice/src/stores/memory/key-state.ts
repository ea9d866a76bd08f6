import { KeyHash } from '../../hash.ts'
import type { Charge } from '../charge.ts'
import type { KeyInspection } from '../inspection.ts'
import type { Change, Intent } from '../store.ts'
import { MemorySpace } from './memory-space.ts'
import type { Sweepable } from './sweeper.ts'
import { boundless, type MemoryContext } from './table/pooled-key-table.ts'

const hash = KeyHash.secret()

/**
 * The whole state of one key of one limit: its counts under every kind of policy, its blocks and its reservations. A
 * custom store keeps one of these for each limit and key. The store itself decides where to keep them, has the clock,
 * and lets no other question come between `judge` and `conclude`. All ticks are those of the store's clock.
 *
 * It holds what `memoryStore` holds of the key, and decides by the same code.
 */
export class KeyState {
  private readonly tables: Sweepable[] = []
  private readonly context: MemoryContext = { hash, budget: boundless(), resets: 0, overflowed() {} }
  private readonly space = new MemorySpace('', this.context, this.tables)

  /** Writes into the charge whether it passes, and if not, when. A booking is made at once, as it is always alone. */
  judge(charge: Charge, intent: Intent, now: number): void {
    hash.of(charge.key)
    this.space.find(charge.rule, now)
    this.space.judge(charge, intent, now)
  }

  /**
   * Takes the charge that was judged, or leaves it: `taken` is what `isTaken` says once all charges of the question are
   * judged. Then it writes what is counted and until when. A refusal may start a block.
   */
  conclude(charge: Charge, taken: boolean, intent: Intent, now: number): void {
    this.space.conclude(charge, taken, intent, now)
  }

  /** Makes a change and returns its number, as `Store.amend` does. */
  change(change: Change, now: number): number {
    return this.space.change(change, now)
  }

  inspect({ limit, rule, key }: Charge, now: number): KeyInspection {
    return this.space.inspect(limit, rule, key, now)
  }

  /**
   * Whether a new state would decide the same, so that the store may forget this one. A key that was reset is never
   * idle: a charge from before the reset must not be refunded to it.
   */
  isIdle(now: number): boolean {
    for (const table of this.tables) table.sweep(Infinity, now)
    return this.context.budget.live === 0 && this.context.resets === 0
  }
}
