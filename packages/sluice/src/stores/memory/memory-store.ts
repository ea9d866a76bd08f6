import { checkFunction, checkOptions } from '../../check-options.ts'
import { type Clock, systemClock, TICKS_PER_MS } from '../../clock.ts'
import { expected } from '../../errors.ts'
import { KeyHash } from '../../hash.ts'
import { type Charge, ENFORCED, isTaken } from '../charge.ts'
import type { KeyInspection } from '../inspection.ts'
import type { Space } from '../limit.ts'
import type { Change, Question, Store } from '../store.ts'
import { StoreTime } from '../store-time.ts'
import { MemorySpace } from './memory-space.ts'
import { Sweeper } from './sweeper.ts'
import { type KeyBudget, newBudget } from './table/key-table.ts'
import type { MemoryContext } from './table/pooled-key-table.ts'

export interface MemoryStoreOptions {
  clock?: Clock
  /**
   * The most keys to keep, of 40 bytes each; a key that needs more counts as several. Beyond it, new keys share pooled
   * buckets. 2^22 by default: at most 168 MB, plus up to 10 MB for each limit whose keys share.
   */
  maxKeys?: number
  /** Called when the store becomes too full for new keys. */
  onOverflow?: (stats: MemoryStats) => void
  /**
   * Called when the clock was set back by more than a second. Limits keep their own time, which stays ahead of the
   * clock.
   */
  onClockSetBack?: (byMs: number) => void
}

export interface MemoryStats {
  /** Keys held now, with those of blocks and reservations. */
  readonly keys: number
  readonly maxKeys: number
  /** Reservations held now. */
  readonly holds: number
  /** Decisions on a pooled bucket, made because there was no room for the key. */
  readonly overflowed: number
}

export interface MemoryStore extends Store<'sync'> {
  /** Keys held now. Idle ones are forgotten gradually. */
  readonly size: number
  stats(): MemoryStats
}

const DEFAULT_MAX_KEYS = 2 ** 22
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  checkOptions('memoryStore', options, ['clock', 'maxKeys', 'onOverflow', 'onClockSetBack'])
  const { clock = systemClock, maxKeys = DEFAULT_MAX_KEYS } = options
  if (!Number.isInteger(maxKeys) || maxKeys < 1 || maxKeys > 2 ** 30) {
    throw expected('SLUICE_BAD_OPTION', 'maxKeys as a whole number from 1 to 2^30', maxKeys)
  }
  if (typeof clock?.now !== 'function') throw expected('SLUICE_BAD_CLOCK', 'a clock with now()', clock)
  for (const name of ['onOverflow', 'onClockSetBack'] as const) {
    if (options[name] !== undefined) checkFunction(name, options[name])
  }
  return new InProcess(clock, maxKeys, options)
}

class InProcess implements MemoryStore {
  readonly mode = 'sync'
  readonly clock: Clock
  private readonly time: StoreTime
  private readonly budget: KeyBudget
  private readonly context: MemoryContext
  private readonly spaces = new Map<string, MemorySpace>()
  private readonly sweeper: Sweeper

  constructor(clock: Clock, maxKeys: number, { onOverflow, onClockSetBack }: MemoryStoreOptions) {
    this.time = new StoreTime(clock, ticks => onClockSetBack?.(ticks / TICKS_PER_MS))
    this.clock = this.time.clock
    this.budget = newBudget(maxKeys)
    this.sweeper = new Sweeper(this.budget, this.time, () => onOverflow?.(this.stats()))
    this.context = {
      hash: KeyHash.secret(),
      budget: this.budget,
      resets: 0,
      overflowed: () => this.sweeper.overflow(),
    }
  }

  get size(): number {
    return this.budget.live
  }

  stats(): MemoryStats {
    let holds = 0
    for (const space of this.spaces.values()) holds += space.holds?.count ?? 0
    return { keys: this.budget.live, maxKeys: this.budget.maxKeys, holds, overflowed: this.sweeper.overflowed }
  }

  bind(path: string): Space {
    let space = this.spaces.get(path)
    if (space === undefined) {
      space = new MemorySpace(path, this.context, this.sweeper.tables)
      this.spaces.set(path, space)
    }
    return space
  }

  ask(question: Question): void {
    const { charges, intent } = question
    const now = this.time.read()
    const { hash } = this.context
    // All keys are looked up first, so that the processor fetches their states in parallel. Limits often share a key.
    let key: string | undefined
    for (const charge of charges) {
      if (charge.key !== key) {
        key = charge.key
        hash.of(key)
      }
      spaceOf(charge).find(charge.rule, now)
    }
    let refused = 0
    for (const charge of charges) {
      spaceOf(charge).judge(charge, intent, now)
      if (!charge.allowed && charge.role === ENFORCED) refused++
    }
    for (const charge of charges) {
      spaceOf(charge).conclude(charge, isTaken(charge, charges, refused), intent, now)
    }
    this.sweeper.keep()
    question.done()
  }

  amend(changes: readonly Change[]): number[] {
    const now = this.time.read()
    return changes.map(change => spaceOf(change.charge).change(change, now))
  }

  inspect({ limit, rule, key }: Charge): KeyInspection {
    return (limit.space as MemorySpace).inspect(limit, rule, key, this.time.read())
  }

  close(): void {
    this.spaces.clear()
    this.sweeper.tables.length = 0
  }
}

/** The memory space of a charge's limit: `bind` of this store made it. */
function spaceOf(charge: Charge): MemorySpace {
  return charge.limit.space as MemorySpace
}
