import type { Rule } from '../../../algorithms/rule.ts'
import type { Charge } from '../../charge.ts'
import type { LimitData } from '../../inspection.ts'
import type { TableSegment } from '../table/key-table.ts'
import { type MemoryContext, PooledKeyTable, type PoolOwner } from '../table/pooled-key-table.ts'

/**
 * The state of all keys of one limit under rules of one shape. Each kind of rule has a subclass, which says what the
 * numbers of a key mean and calls the kernel.
 *
 * A decision calls `find`, `judge`, then `take` if it passes or `describe` if not. `find` looks the key up once, and
 * the table remembers it until the next `find`.
 */
export abstract class StateTable<R extends Rule = Rule> implements PoolOwner {
  readonly keys: PooledKeyTable
  readonly rule: R
  readonly context: MemoryContext

  /** `width` numbers are kept of each key. The first says when the key is idle, see `idleUpTo`. */
  constructor(rule: R, context: MemoryContext, width: number, poolSize?: number) {
    this.keys = new PooledKeyTable(width, this, context, poolSize)
    this.rule = rule
    this.context = context
  }

  /** Looks a key up without reading its state, so that the processor can fetch the states of several keys at once. */
  find(key: string, now: number): void {
    this.keys.find(key, now)
  }

  /** Reads the state of the key that was found. */
  protected abstract load(rule: R, key: string, now: number): void

  /** Finds a charge's key and reads its state. */
  locate({ rule, key }: Charge<R>, now: number): void {
    this.keys.find(key, now)
    this.load(rule, key, now)
  }

  /** Reads the state of the key that was found. Writes into the charge whether `cost` passes, and if not, when. */
  abstract judge(charge: Charge<R>, cost: number, now: number): void

  /** Takes the cost from the key whose state was read. Writes into the charge what is then counted, and until when. */
  abstract take(charge: Charge<R>, cost: number, now: number): void

  /** Writes into the charge what is counted for the key whose state was read, and until when. */
  abstract describe(charge: Charge<R>, now: number): void

  /** What is counted now, in requests, rounded up: more than the limit after an overdraft. */
  abstract countedFor(charge: Charge<R>, now: number): number

  /**
   * Takes back a charge made at tick `chargedAt`, but lets no more through than if the request had not happened.
   * `endSlot` gives slots back instead.
   */
  abstract refund(charge: Charge<R>, now: number, chargedAt: number): void

  /** Gives `charge.cost` back, up to a full limit. */
  abstract credit(charge: Charge<R>, now: number): void

  /** Books a start within `bookTicks`, beyond what fits now. The verdict says when it is. Only buckets book. */
  book(_charge: Charge<R>, _now: number, _bookTicks: number): void {}

  /** Gives the slot of a charge back, or holds it for another ttl; 1 if it was still held. Only slots are held. */
  endSlot(_charge: Charge<R>, _now: number, _renews: boolean): number {
    return 0
  }

  forget(key: string, now: number): void {
    this.keys.forget(key, now)
  }

  /** The state that was read, as data. */
  abstract inspect(rule: R, now: number): LimitData

  /** The bytes of the key that was found. */
  get bytes(): number {
    return this.keys.at < 0 ? 0 : 8 * (this.keys.table.width + 1)
  }

  /** Copies the state of one key into another table of the same rules. */
  copyTo(other: StateTable<R>, key: string, now: number): void {
    const { keys } = this
    this.find(key, now)
    this.load(this.rule, key, now) // may fetch a bucket from another table
    if (keys.at < 0) return
    other.find(key, now)
    this.copy(keys.segment, keys.at, other.keys.segment, other.keys.make(now), now)
  }

  /** Copies one key's state. Returns false if the state cannot be in two places; then the key stays in its pool. */
  copy(from: TableSegment, fromOffset: number, to: TableSegment, toOffset: number, _now: number): boolean {
    for (let i = 0; i < this.keys.table.width; i++) to.cells[toOffset + i] = from.cells[fromOffset + i]!
    return true
  }

  abstract idleUpTo(segment: TableSegment, now: number): number

  dropped(_segment: TableSegment, _offset: number): void {}
}
