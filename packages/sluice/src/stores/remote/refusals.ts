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

/** In characters. Names hold keys, and those are as long as whoever sends them likes. */
const LONGEST_NAME = 4096

/**
 * Refusals that still hold, by the name of the question; bounded, the oldest going first.
 *
 * One holds while no key of it was changed after it was asked for, and while the key that frees last was not charged.
 * The others may be: a busy limit that everybody shares would leave nothing to be remembered.
 *
 * A list keeps their age: a Map that is always emptied from the front walks over ever more gaps to find its first.
 */
export class CachedRefusals {
  /** Counts the changes made here, so that what was asked for before one is told from what was asked for after it. */
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

  /** Does a refusal rest on one of these keys? Of nearly all calls that pass, none does: that is all they pay for. */
  concern(charges: readonly Charge[]): boolean {
    if (this.byName.size === 0) return false
    for (const charge of charges) if (this.keyOf(charge) !== undefined) return true
    return false
  }

  /** The refusal of just this call, if it holds. */
  find(charges: readonly Charge[], now: number): CachedRefusal | undefined {
    const refusal = this.latestAlike(charges) ?? this.byName.get(questionName(charges))
    return refusal?.holds(now) === true && !this.isChanged(refusal) ? refusal : undefined
  }

  /** Notes what an answer says about keys that refusals rest on. */
  observe(charges: readonly Charge[], strikes: boolean): void {
    for (const charge of charges) if (charge.fault === undefined) this.keyOf(charge)?.observe(charge, strikes)
  }

  /** Keeps the refusal that the store has answered just now, in place of what it answered before. */
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

  /** Nothing that was asked for until now holds for the key that is changed. */
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

  /** Not beyond the end of a block, where that is known: the next refusal by the limit itself will start another. */
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
