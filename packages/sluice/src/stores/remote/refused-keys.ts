import type { Charge } from '../charge.ts'
import { type CachedRefusal, isStrike } from './refusal.ts'

/** How many changes of one limit are remembered by key; beyond it, only that every key may have been changed. */
const MOST_CHANGES = 1024

/** The keys of one limit: those that were refused, and those that were changed here. */
export class RefusedKeys {
  private readonly refused = new Map<string, RefusedKey>()
  /** By which of all changes a key was changed last. */
  private readonly changed = new Map<string, number>()
  private allChanged = 0

  get(key: string): RefusedKey | undefined {
    return this.refused.get(key)
  }

  /** The key of a charge, for one more refusal that rests on it. */
  hold(charge: Charge): RefusedKey {
    let key = this.refused.get(charge.key)
    if (key === undefined) {
      key = new RefusedKey(charge, this.refused)
      this.refused.set(charge.key, key)
    }
    key.refusals++
    return key
  }

  change(key: string, count: number): void {
    if (this.changed.size >= MOST_CHANGES) {
      this.changed.clear()
      this.allChanged = count
    }
    this.changed.set(key, count)
  }

  isChangedAfter(key: string, count: number): boolean {
    return (this.changed.get(key) ?? this.allChanged) > count
  }
}

/** What was seen to happen to a key since it was refused. */
export class RefusedKey {
  /** How many refusals rest on it, and the latest of them. */
  refusals = 0
  latest: CachedRefusal | undefined
  /** How often a refusal would have been another: whatever was said before does not hold any more. */
  turns = 0
  /** The tick up to which a block lasts at least, if it was seen to start. */
  blockedUntil = 0
  private readonly key: string
  private readonly others: Map<string, RefusedKey>
  private shape: string

  constructor(charge: Charge, others: Map<string, RefusedKey>) {
    this.latest = undefined
    this.key = charge.key
    this.others = others
    this.shape = charge.rule.shape
    this.observe(charge, true)
  }

  /** One refusal less rests on it. */
  letGo(): void {
    if (--this.refusals === 0) this.others.delete(this.key)
  }

  /** An answer about the key: it was charged, blocked, or brought to another rate, which changes its level too. */
  observe(charge: Charge, strikes: boolean): void {
    const { at, limit, rule } = charge
    const isStruck = strikes && isStrike(charge)
    const isConverted = rule.kind === 'bucket' && rule.shape !== this.shape
    if (charge.taken || isStruck || isConverted) this.turns++
    if (isStruck) this.blockedUntil = at + limit.block!.first
    if (isConverted) this.shape = rule.shape
  }
}
