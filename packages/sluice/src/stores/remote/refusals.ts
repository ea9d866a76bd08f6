import { type Charge, ENFORCED } from '../charge.ts'
import type { RefusedKey } from './refusal.ts'
import {
  type AnsweredQuestion,
  CachedRefusal,
  isAlike,
  isStrike,
  lastToFree,
  questionName,
  ticksLeft,
} from './refusal.ts'
import { RefusedKeys } from './refused-keys.ts'

/** In characters. Names contain keys, and callers choose how long those are. */
const LONGEST_NAME = 4096

/**
 * Refusals that still hold, by the name of the question. Their number is bounded: the oldest goes first.
 *
 * A refusal holds until one of its keys is changed, or the key that frees last is charged. Its other keys may be
 * charged: otherwise a busy limit that everybody shares would end every refusal.
 *
 * A linked list keeps them by age, because finding the first entry of a Map gets slow when entries always leave in
 * front.
 */
export class CachedRefusals {
  /** Counts the changes made here. So a question knows which changes were made after it was asked. */
  changes = 0
  /** Counts the refusals kept so far. */
  kept = 0
  private readonly byName = new Map<string, CachedRefusal>()
  private readonly limits = new Map<string, RefusedKeys>()
  private readonly most: number
  private readonly longestTicks: number
  private oldest: CachedRefusal | undefined
  private newest: CachedRefusal | undefined

  constructor(most: number, longestTicks: number) {
    this.most = most
    this.longestTicks = longestTicks
  }

  get size(): number {
    return this.byName.size
  }

  /** Whether a refusal depends on one of these keys. For nearly all calls that pass, none does. */
  concern(charges: readonly Charge[]): boolean {
    if (this.byName.size === 0) return false
    for (const charge of charges) if (this.keyOf(charge) !== undefined) return true
    return false
  }

  /** The refusal of this very call, if it still holds. */
  find(charges: readonly Charge[], now: number): CachedRefusal | undefined {
    const refusal = this.latestAlike(charges) ?? this.byName.get(questionName(charges))
    return refusal?.holds(now) === true && !this.isChanged(refusal) ? refusal : undefined
  }

  /** Notes what an answer says about keys that refusals depend on. */
  observe(charges: readonly Charge[], strikes: boolean): void {
    for (const charge of charges) if (charge.fault === undefined) this.keyOf(charge)?.observe(charge, strikes)
  }

  /** Keeps the store's latest refusal in place of its earlier one. */
  keep(question: AnsweredQuestion, now: number): void {
    const { charges } = question
    const name = questionName(charges)
    const last = lastToFree(charges)
    const ticks = this.ticksToKeep(charges, ticksLeft(last))
    const isKept = ticks > 0 && name.length <= LONGEST_NAME
    const key = isKept ? this.keysOf(last).hold(last) : undefined // before the old one lets go of it
    this.drop(this.byName.get(name))
    if (key === undefined) return
    if (this.byName.size >= this.most) this.drop(this.oldest)
    this.add(new CachedRefusal(name, question, now, ticks, key))
  }

  forget(charges: readonly Charge[]): void {
    this.drop(this.byName.get(questionName(charges)))
  }

  /** Ends all refusals that depend on the changed key and whose questions were asked before now. */
  change(charge: Charge): void {
    this.keysOf(charge).change(charge.key, ++this.changes)
  }

  private latestAlike(charges: readonly Charge[]): CachedRefusal | undefined {
    for (const charge of charges) {
      const latest = charge.role === ENFORCED ? this.keyOf(charge)?.latest : undefined
      if (latest !== undefined && isAlike(latest.charges, charges)) return latest
    }
    return undefined
  }

  private isChanged({ charges, changes }: CachedRefusal): boolean {
    if (changes === this.changes) return false
    return charges.some(charge => this.limits.get(charge.limit.space.path)?.isChangedAfter(charge.key, changes))
  }

  /** At most until the end of a block, if that is known: the limit's next refusal starts another block. */
  private ticksToKeep(charges: readonly Charge[], ticks: number): number {
    let most = Math.min(ticks, this.longestTicks)
    for (const charge of charges) {
      const { block } = charge.limit
      if (charge.allowed || block === undefined) continue
      if (isStrike(charge)) most = Math.min(most, block.first)
      const blockedTicks = (this.keyOf(charge)?.blockedUntil ?? 0) - charge.at
      if (blockedTicks > 0) most = Math.min(most, blockedTicks)
    }
    return most
  }

  private add(refusal: CachedRefusal): void {
    this.kept++
    this.byName.set(refusal.name, refusal)
    refusal.key.latest = refusal
    refusal.older = this.newest
    if (this.newest === undefined) this.oldest = refusal
    else this.newest.newer = refusal
    this.newest = refusal
  }

  private drop(refusal: CachedRefusal | undefined): void {
    if (refusal === undefined) return
    const { name, older, newer, key } = refusal
    this.byName.delete(name)
    if (older === undefined) this.oldest = newer
    else older.newer = newer
    if (newer === undefined) this.newest = older
    else newer.older = older
    if (key.latest === refusal) key.latest = undefined
    key.letGo()
  }

  private keyOf(charge: Charge): RefusedKey | undefined {
    return this.limits.get(charge.limit.space.path)?.get(charge.key)
  }

  private keysOf({ limit }: Charge): RefusedKeys {
    const { path } = limit.space
    let keys = this.limits.get(path)
    if (keys === undefined) {
      keys = new RefusedKeys()
      this.limits.set(path, keys)
    }
    return keys
  }
}
