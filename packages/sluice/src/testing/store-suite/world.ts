import { TICKS_PER_MS } from '../../clock.ts'
import { type Charge, ENFORCED } from '../../stores/charge.ts'
import type { Lane, LoneLane, SharedLane } from '../../stores/lane.ts'
import { type Change, type Intent, type Store, TAKE } from '../../stores/store.ts'
import { type FakeClock, fakeClock } from '../fake-clock.ts'
import { same } from './case.ts'

/** Makes an empty store that runs by the clock it is given. Called often: one case opens many. */
export type Open = (options: { clock: FakeClock; maxKeys?: number }) => Store | Promise<Store>

/** What the cases of a suite are made with. */
export interface Bench {
  /** A fresh store for as long as `use` runs. */
  inWorld(use: (world: World) => Promise<void>, options?: { maxKeys?: number }): Promise<void>
  /** How often to repeat something random. */
  times(n: number): number
}

export function benchOf(open: Open, scale: number): Bench {
  return {
    times: n => Math.max(1, Math.round(n * scale)),
    async inWorld(use, { maxKeys } = {}) {
      const clock = fakeClock()
      const store = await open(maxKeys === undefined ? { clock } : { clock, maxKeys })
      try {
        await use(new World(store, clock))
      } finally {
        await store.close()
      }
    },
  }
}

/** A store, its clock, and what the store's now must be. */
export class World {
  readonly store: Store
  readonly clock: FakeClock
  /** The latest tick any call was made at: now, for a store whose time never runs backwards. */
  now = 0
  private tick = 0
  /** By how much the store's time is ahead of the clock. */
  private ahead = 0
  private asked = 0
  private readonly lanes = new Kept<LoneLane>()
  private readonly sharedLanes = new Kept<SharedLane>()

  constructor(store: Store, clock: FakeClock) {
    this.store = store
    this.clock = clock
  }

  /** Sets the clock, and says what the next call will find. */
  goTo(tick: number): number {
    this.tick = tick
    this.clock.set(tick / TICKS_PER_MS)
    return Math.max(this.now, tick + this.ahead)
  }

  /** A call is made. A clock set back stands still, or, if by more than a second, goes on from the latest tick. */
  private called(): void {
    const back = this.now - this.tick - this.ahead
    if (back > SET_BACK_TICKS) this.ahead += back
    this.now = Math.max(this.now, this.tick + this.ahead)
  }

  /** Charges go every way a store can be asked, by turns: they must be the same. */
  async decide(charges: readonly Charge[], intent: Intent): Promise<void> {
    this.called()
    const turn = ++this.asked % 4
    const express = turn === 2 ? this.byLane(charges, intent) : turn === 3 && this.bySharedLane(charges, intent)
    if (!express) {
      if (turn === 1 && charges.length === 1) await this.store.decide(charges[0]!, intent)
      else await this.store.decideAll(charges, intent)
    }
    for (const { at } of charges) same(at, this.now, () => `the tick of a decision made at ${this.tick}`)
  }

  /** By the express lane for one charge, if the store has one for it. */
  private byLane(charges: readonly Charge[], intent: Intent): boolean {
    const [charge] = charges
    const lane = charge !== undefined && charges.length === 1 ? this.laneOf(charge, intent) : undefined
    if (charge === undefined || lane === undefined) return false
    lane.take(charge.key)
    Object.assign(charge, passed(lane, charge.key)[0])
    return true
  }

  /** By the express lane for several, if the store has one for each of them. */
  private bySharedLane(charges: readonly Charge[], intent: Intent): boolean {
    const each = charges.map(charge => this.laneOf(charge, intent)).filter(lane => lane !== undefined)
    const areAll = each.length === charges.length
    const lane = areAll ? this.sharedLanes.of(each, () => this.store.sharedLane?.(each)) : undefined
    if (lane === undefined) return false
    const apart = charges.map(charge => charge.key)
    const keys = this.asked % 8 === 3 && new Set(apart).size === 1 ? apart[0]! : apart
    lane.take(keys)
    const made = passed(lane, keys)
    charges.forEach((charge, i) => {
      Object.assign(charge, made[i])
    })
    return true
  }

  private laneOf({ limit, rule, cost, role }: Charge, intent: Intent): LoneLane | undefined {
    if (intent !== TAKE || cost !== 1 || role !== ENFORCED) return undefined
    return this.lanes.of([limit, rule], () => this.store.lane?.(limit, rule))
  }

  async amend(changes: readonly Change[]): Promise<number[]> {
    this.called()
    return this.store.amend(changes)
  }
}

/** What was made of a list of things, for as long as a world lasts: a lane must not mix up one request with the next. */
class Kept<T> {
  private readonly all: { readonly list: readonly unknown[]; readonly made: T | undefined }[] = []

  of(list: readonly unknown[], make: () => T | undefined): T | undefined {
    const isSame = (one: readonly unknown[]) => one.length === list.length && one.every((thing, i) => thing === list[i])
    const kept = this.all.find(one => isSame(one.list)) ?? { list, made: make() }
    if (!this.all.includes(kept)) this.all.push(kept)
    return kept.made
  }
}

/** The charges of the request that a lane has just seen to. */
function passed<K, U>(lane: Lane<K, U>, key: K): readonly Charge[] {
  return lane.charges ?? lane.chargesOf(key, lane)
}

/** A double of milliseconds tells neighbouring ticks apart until the year 2109: traces stop before. */
export const LATEST_TICK = 2 ** 42 * TICKS_PER_MS
const SET_BACK_TICKS = 1_000_000
/** A moment on no boundary of anything. */
export const TODAY = 1_790_000_123_456_789
