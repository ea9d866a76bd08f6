import type { Charge } from '../charge.ts'
import { RefusedKey } from './refusal.ts'

/** How many changed keys of one limit are remembered. Beyond that, every key counts as changed. */
const MOST_CHANGES = 1024

/** The keys of one limit: those that were refused, and those that were changed here. */
export class RefusedKeys {
  private readonly refused = new Map<string, RefusedKey>()
  /** The number of each key's last change. */
  private readonly changed = new Map<string, number>()
  private allChanged = 0

  get(key: string): RefusedKey | undefined {
    return this.refused.get(key)
  }

  /** The key of a charge, with one more refusal that depends on it. */
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
