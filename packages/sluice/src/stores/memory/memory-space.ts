import type { Rule } from '../../algorithms/rule.ts'
import type { Charge, Space } from '../store.ts'
import { Blocks } from './blocks.ts'
import { BucketLedger } from './bucket-ledger.ts'
import { FixedLedger } from './fixed-ledger.ts'
import { Holds } from './holds.ts'
import type { Sweepable } from './house.ts'
import type { Shared } from './keys.ts'
import type { Ledger } from './ledger.ts'
import { LogLedger } from './log-ledger.ts'
import { SlidingLedger } from './sliding-ledger.ts'
import { SlotLedger } from './slot-ledger.ts'

const MOST_RESETS = 1024

/** All state of one limit: a ledger for each shape of rule it has had, and blocks and reservations once there are any. */
export class MemorySpace implements Space {
  readonly path: string
  blocks: Blocks | undefined
  holds: Holds | undefined
  /** Neither of them: nothing to look at but the ledger. */
  plain = true
  private readonly shared: Shared
  private readonly swept: Sweepable[]
  private readonly ledgers = new Map<string, Ledger>()
  private readonly buckets: BucketLedger[] = []
  /** Which reset of the store was a key's last; where these are too many, only that all had one. */
  private readonly resets = new Map<string, number>()
  private allReset = 0
  /** Nearly always the rule asked for next. */
  private lastRule: Rule | undefined
  private lastLedger: Ledger | undefined

  constructor(path: string, shared: Shared, swept: Sweepable[]) {
    this.path = path
    this.shared = shared
    this.swept = swept
  }

  ledger(rule: Rule): Ledger {
    return rule === this.lastRule ? this.lastLedger! : this.ledgerOf(rule)
  }

  private ledgerOf(rule: Rule): Ledger {
    let ledger = this.ledgers.get(rule.shape)
    if (ledger === undefined) {
      ledger = this.newLedger(rule)
      this.ledgers.set(rule.shape, ledger)
      this.swept.push(ledger.keys)
    }
    this.lastRule = rule
    this.lastLedger = ledger
    return ledger
  }

  needBlocks(): Blocks {
    if (this.blocks === undefined) {
      this.plain = false
      this.blocks = new Blocks(this.shared)
      this.swept.push(this.blocks)
    }
    return this.blocks
  }

  needHolds(): Holds {
    this.plain = false
    this.holds ??= new Holds((charge: Charge) => this.ledger(charge.rule))
    return this.holds
  }

  /** What is reserved for a key now. */
  heldFor(key: string, now: number): number {
    return this.holds === undefined ? 0 : this.holds.held(key, now)
  }

  forget(rule: Rule, key: string, now: number): void {
    this.ledger(rule).forget(key, now)
    this.blocks?.forget(key)
    this.holds?.forget(key)
    const { room } = this.shared
    if (this.resets.size >= MOST_RESETS) {
      this.resets.clear()
      this.allReset = room.resets
    }
    this.resets.set(key, ++room.resets)
  }

  /** Was the key forgotten after a charge with that receipt was taken? Then there is nothing left of it to refund. */
  forgottenSince(key: string, receipt: number): boolean {
    return receipt <= (this.resets.get(key) ?? this.allReset)
  }

  private newLedger(rule: Rule): Ledger {
    const { shared } = this
    switch (rule.kind) {
      case 'bucket': {
        const ledger = new BucketLedger(rule, shared, this.buckets)
        this.buckets.push(ledger)
        return ledger
      }
      case 'fixed':
        return new FixedLedger(shared)
      case 'sliding':
        return new SlidingLedger(rule, shared)
      case 'log':
        return new LogLedger(rule, shared)
      case 'slots':
        return new SlotLedger(shared)
    }
  }
}
