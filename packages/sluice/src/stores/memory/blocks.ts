import type { BlockRule } from '../limit.ts'
import { KeyTable, type TableOwner, type TableSegment } from './table/key-table.ts'
import type { MemoryContext } from './table/pooled-key-table.ts'

const FORGET_AT = 0
const UNTIL = 1
const STRIKES = 2

/**
 * The blocks of one limit: until when a key is refused, and how many blocks it has had. The count is forgotten when the
 * longest block has passed since the key's last block ended.
 */
export class Blocks implements TableOwner {
  private readonly table: KeyTable
  private readonly context: MemoryContext
  /** The segment of the key last looked up. */
  private segment: TableSegment

  constructor(context: MemoryContext) {
    this.table = new KeyTable(3, context.budget)
    this.context = context
    this.segment = this.table.segmentOf(0)
  }

  /** The tick at which the key's block ends; 0 without a block. */
  until(key: string, now: number): number {
    const at = this.find(key)
    if (at < 0) return 0
    const until = this.segment.cells[at + UNTIL]!
    return until > now ? until : 0
  }

  /** Starts a block after a refusal, longer than the key's last one. The caller knows that no block is running. */
  strike(key: string, rule: BlockRule, now: number): number {
    const at = this.find(key)
    const { cells } = this.segment
    const strikes = at < 0 || cells[at + FORGET_AT]! <= now ? 0 : cells[at + STRIKES]!
    const ticks = Math.ceil(Math.min(rule.max, rule.first * rule.factor ** strikes))
    return this.write(key, at, now + ticks, strikes + 1, now + ticks + (rule.factor > 1 ? rule.max : 0), now)
  }

  /** An operator's block. It replaces a running one, longer or shorter. Returns false if there is no room for it. */
  set(key: string, ticks: number, now: number): boolean {
    const at = this.find(key)
    const forgetAt = at < 0 ? 0 : this.segment.cells[at + FORGET_AT]!
    const strikes = forgetAt <= now ? 0 : this.segment.cells[at + STRIKES]!
    return this.write(key, at, now + ticks, strikes, Math.max(now + ticks, forgetAt), now) > 0
  }

  forget(key: string): void {
    const at = this.find(key)
    if (at >= 0) this.table.remove(this.segment, at)
  }

  sweep(slots: number, now: number): boolean {
    return this.table.sweep(slots, this, now)
  }

  idleUpTo(_segment: TableSegment, now: number): number {
    return now
  }

  dropped(): void {}

  private find(key: string): number {
    const { hash } = this.context
    hash.of(key)
    this.segment = this.table.segmentOf(hash.hi)
    return this.table.find(this.segment, hash.hi, hash.lo)
  }

  /** In a full store a key without a block gets none. Its limit still refuses it. */
  private write(key: string, at: number, until: number, strikes: number, forgetAt: number, now: number): number {
    const { hash, budget } = this.context
    if (at < 0 && budget.live >= budget.max) {
      this.context.overflowed()
      return 0
    }
    hash.of(key)
    const place = at >= 0 ? at : this.table.insert(hash.hi, hash.lo, this, now)
    this.table.segmentOf(hash.hi).cells.set([forgetAt, until, strikes], place)
    return until
  }
}
