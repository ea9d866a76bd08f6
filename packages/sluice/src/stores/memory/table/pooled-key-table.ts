import type { KeyHash } from '../../../hash.ts'
import { type KeyBudget, KeyTable, newBudget, type TableOwner, type TableSegment } from './key-table.ts'

/** What all tables of one store share. */
export interface MemoryContext {
  readonly hash: KeyHash
  readonly budget: KeyBudget
  /** How many resets there have been: a charge from before a reset cannot be refunded after it. */
  resets: number
  /** Called for every decision made on a pooled bucket. */
  overflowed(): void
}

/** An owner of tables whose keys may have to share a pooled bucket. */
export interface PoolOwner extends TableOwner {
  /** Copies one key's state. Returns false if the state cannot be in two places; then the key stays in its pool. */
  copy(from: TableSegment, fromOffset: number, to: TableSegment, toOffset: number, now: number): boolean
}

/** How many pooled buckets there are for keys without room. */
const POOL_SIZE = 4096

/**
 * The keys of one table, and the pooled buckets for those without room.
 *
 * A full store never hands out fresh quota. A key without room shares a pooled bucket, chosen by its hash, with others.
 * When there is room again, the key takes the pool's state along.
 */
export class PooledKeyTable {
  /**
   * Where `find` or `make` found the last key: `segment.cells[at]` is its first number. `at` is -1 if it was not found.
   */
  segment: TableSegment
  at = -1
  /** Whether the key found shares a pooled bucket. */
  pooled = false
  readonly table: KeyTable
  /** Called before a sweep, to charge expired reservations. Until then their keys may look idle. */
  beforeSweep: ((now: number) => void) | undefined = undefined
  private readonly owner: PoolOwner
  private readonly context: MemoryContext
  private readonly poolSize: number
  private pool: KeyTable | undefined
  /** The hash of the key last looked up. */
  private hi = 0
  private lo = 0

  /** `poolSize` is a power of two, up to `POOL_SIZE`: fewer if a pooled state may be large. */
  constructor(width: number, owner: PoolOwner, context: MemoryContext, poolSize = POOL_SIZE) {
    this.poolSize = Math.min(poolSize, POOL_SIZE)
    this.table = new KeyTable(width, context.budget)
    this.segment = this.table.segmentOf(0)
    this.owner = owner
    this.context = context
  }

  find(key: string, now: number): number {
    this.context.hash.of(key)
    return this.findHashed(now)
  }

  /** Finds the key that was hashed last. */
  findHashed(now: number): number {
    const { hash, budget } = this.context
    this.hi = hash.hi
    this.lo = hash.lo
    this.segment = this.table.segmentOf(this.hi)
    this.at = this.table.find(this.segment, this.hi, this.lo)
    this.pooled = false
    if (this.at < 0 && (this.pool !== undefined || budget.live >= budget.max)) this.at = this.findPooled(now)
    return this.at
  }

  /** The place of the key just looked up: its own if it has one, else a new one, all zeros. */
  make(now: number): number {
    if (this.at >= 0) return this.at
    this.at = this.table.insert(this.hi, this.lo, this.owner, now)
    this.segment = this.table.segmentOf(this.hi)
    return this.at
  }

  /** Forgets a key. A pooled bucket stays as it is: clearing it would give fresh quota to all keys that share it. */
  forget(key: string, now: number): void {
    if (this.find(key, now) < 0 || this.pooled) return
    this.owner.dropped(this.segment, this.at)
    this.table.remove(this.segment, this.at)
    this.at = -1
  }

  /** Looks at a few slots and forgets idle keys. Returns true when it has looked at all of them. */
  sweep(slots: number, now: number): boolean {
    this.beforeSweep?.(now)
    if (!this.table.sweep(slots, this.owner, now)) return false
    this.dropIdlePool(now)
    return true
  }

  private findPooled(now: number): number {
    const { budget } = this.context
    const index = this.hi & (this.poolSize - 1)
    const pool = this.pool ?? new KeyTable(this.table.width, boundless())
    const segment = pool.segmentOf(index << 20)
    const pooled = pool.find(segment, index << 20, index + 1)
    const inUse = pooled >= 0 && segment.cells[pooled]! > this.owner.idleUpTo(segment, now)
    if (budget.live < budget.max) {
      if (!inUse) return -1
      const own = this.table.insert(this.hi, this.lo, this.owner, now)
      this.segment = this.table.segmentOf(this.hi)
      if (this.owner.copy(segment, pooled, this.segment, own, now)) return own
      this.table.remove(this.segment, own)
    }
    this.context.overflowed()
    this.pool = pool
    const at = pooled >= 0 ? pooled : pool.insert(index << 20, index + 1, this.owner, now)
    this.segment = pool.segmentOf(index << 20)
    this.pooled = true
    return at
  }

  private dropIdlePool(now: number): void {
    if (this.pool === undefined || this.context.budget.live >= this.context.budget.max) return
    while (!this.pool.sweep(POOL_SIZE, this.owner, now));
    if (this.pool.size === 0) this.pool = undefined
  }
}

/** A budget without a limit. */
export function boundless(): KeyBudget {
  return newBudget(Infinity)
}

/** The context of a table for simulations. Its keys do not count as keys of the store. */
export function apart({ hash }: MemoryContext): MemoryContext {
  return { hash, budget: boundless(), resets: 0, overflowed() {} }
}
