import type { Rule } from '../../algorithms/rule.ts'
import { type Clock, systemClock, TICKS_PER_MS } from '../../clock.ts'
import { expected } from '../../errors.ts'
import { KeyHash } from '../../hash.ts'
import { type Charge, ENFORCED, isTaken } from '../charge.ts'
import type { LoneLane, SharedLane } from '../lane.ts'
import { type Change, type Intent, type Limit, type Space, type Store, TAKE } from '../store.ts'
import { BucketLane } from './bucket-lane.ts'
import { ChargeLane } from './charge-lane.ts'
import { House } from './house.ts'
import { newRoom, type Room } from './key-table.ts'
import type { Shared } from './keys.ts'
import { isPlain, tracksOf } from './laid-tracks.ts'
import type { LogLedger } from './log-ledger.ts'
import { MemorySpace } from './memory-space.ts'
import { OneLane } from './one-lane.ts'
import { StoreTime } from './store-time.ts'
import { Tracks } from './tracks.ts'

export interface MemoryStoreOptions {
  clock?: Clock
  /**
   * How many keys to keep at most, of 40 bytes each; what takes more takes the room of several. Beyond it, new keys share
   * pooled buckets. 2^22 by default: 168 MB at the worst, and up to 10 MB for each limit whose keys share.
   */
  maxKeys?: number
  /** Told when the store starts to be too full for new keys. */
  onOverflow?: (stats: MemoryStats) => void
  /** Told when the clock was set back by more than a second. Limits go on by the time they had, ahead of the clock. */
  onClockSetBack?: (byMs: number) => void
}

export interface MemoryStats {
  /** Keys held now, those of blocks and reservations included. */
  readonly keys: number
  readonly maxKeys: number
  /** Reservations held now. */
  readonly holds: number
  /** Decisions made on a shared bucket because there was no room for the key. */
  readonly overflowed: number
}

export interface MemoryStore extends Store<'sync'> {
  /** Keys held now: idle ones are forgotten by and by. */
  readonly size: number
  stats(): MemoryStats
}

const DEFAULT_MAX_KEYS = 2 ** 22
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const known = ['clock', 'maxKeys', 'onOverflow', 'onClockSetBack']
  const unknown = options === null ? options : Object.keys(options).find(option => !known.includes(option))
  if (unknown !== undefined) throw expected('SLUICE_BAD_OPTION', `memoryStore options ${known.join(', ')}`, unknown)
  const { clock = systemClock, maxKeys = DEFAULT_MAX_KEYS } = options
  if (!Number.isInteger(maxKeys) || maxKeys < 1 || maxKeys > 2 ** 30) {
    throw expected('SLUICE_BAD_OPTION', 'maxKeys as a whole number from 1 to 2^30', maxKeys)
  }
  if (typeof clock?.now !== 'function') throw expected('SLUICE_BAD_CLOCK', 'a clock with now()', clock)
  for (const name of ['onOverflow', 'onClockSetBack'] as const) {
    const told = options[name] ?? (() => {})
    if (typeof told !== 'function') throw expected('SLUICE_BAD_OPTION', `${name} as a function`, told)
  }
  return new InProcess(clock, maxKeys, options)
}

class InProcess implements MemoryStore {
  readonly mode = 'sync'
  readonly clock: Clock
  private readonly time: StoreTime
  private readonly room: Room
  private readonly shared: Shared
  private readonly spaces = new Map<string, MemorySpace>()
  private readonly house: House

  constructor(clock: Clock, maxKeys: number, { onOverflow, onClockSetBack }: MemoryStoreOptions) {
    this.time = new StoreTime(clock, ticks => onClockSetBack?.(ticks / TICKS_PER_MS))
    this.clock = this.time.clock
    this.room = newRoom(maxKeys)
    this.house = new House(this.room, this.time, () => onOverflow?.(this.stats()))
    this.shared = {
      hash: KeyHash.secret(),
      time: this.time,
      room: this.room,
      overflowed: () => this.house.overflow(),
    }
  }

  get size(): number {
    return this.room.live
  }

  stats(): MemoryStats {
    let holds = 0
    for (const space of this.spaces.values()) holds += space.holds?.count ?? 0
    return { keys: this.room.live, maxKeys: this.room.maxKeys, holds, overflowed: this.house.overflowed }
  }

  space(path: string): Space {
    let space = this.spaces.get(path)
    if (space === undefined) {
      space = new MemorySpace(path, this.shared, this.house.tables)
      this.spaces.set(path, space)
    }
    return space
  }

  decide(charge: Charge, intent: Intent): void {
    const now = this.time.read()
    const space = spaceOf(charge)
    charge.at = now
    space.ledger(charge.rule).locate(charge, now)
    space.judge(charge, now)
    space.judgeHold(charge, intent, now)
    if (intent.bookTicks >= 0) space.book(charge, now, intent.bookTicks)
    if (charge.allowed) space.take(charge, intent, now)
    else if (intent.strikes) space.strike(charge, now)
    space.describe(charge, now)
    this.house.keep()
  }

  decideAll(charges: readonly Charge[], intent: Intent): void {
    const now = this.time.read()
    const refused = judgeAll(charges, intent, now)
    for (const charge of charges) {
      const space = spaceOf(charge)
      if (isTaken(charge, charges, refused)) space.take(charge, intent, now)
      else if (!charge.allowed && intent.strikes) space.strike(charge, now)
      space.describe(charge, now)
    }
    this.house.keep()
  }

  lane(limit: Limit, rule: Rule): LoneLane {
    const longWay = new ChargeLane(limit, rule, charge => this.decide(charge, TAKE))
    const isExpress = rule.kind === 'bucket' && isPlain(limit, rule)
    return isExpress ? new BucketLane(limit, rule, this.shared, this.house, longWay) : longWay
  }

  sharedLane(lanes: readonly LoneLane[]): SharedLane | undefined {
    const [first] = lanes
    if (lanes.length === 1 && first instanceof BucketLane) return new OneLane(first, this.shared.hash)
    const tracks = tracksOf(lanes as readonly (BucketLane | ChargeLane)[])
    if (tracks === undefined) return undefined
    return new Tracks(tracks, this.shared, this.house, charges => this.decideAll(charges, TAKE))
  }

  amend(changes: readonly Change[]): number[] {
    const now = this.time.read()
    return changes.map(change => spaceOf(change.charge).change(change, now))
  }

  history(space: Space, rule: Rule, key: string): number[] {
    return ((space as MemorySpace).ledger(rule) as LogLedger).history(key, this.time.read())
  }

  close(): void {
    this.spaces.clear()
    this.house.tables.length = 0
  }
}

function spaceOf(charge: Charge): MemorySpace {
  return charge.limit.space as MemorySpace
}

/** Judges every charge, and says how many of the enforced ones are refused. */
function judgeAll(charges: readonly Charge[], intent: Intent, now: number): number {
  // First all of them are sought: so the processor fetches their states side by side.
  for (const charge of charges) spaceOf(charge).ledger(charge.rule).locate(charge, now)
  let refused = 0
  for (const charge of charges) {
    const space = spaceOf(charge)
    charge.at = now
    space.judge(charge, now)
    space.judgeHold(charge, intent, now)
    if (intent.bookTicks >= 0 && charge.role === ENFORCED) space.book(charge, now, intent.bookTicks)
    if (charge.role === ENFORCED && !charge.allowed) refused++
  }
  return refused
}
