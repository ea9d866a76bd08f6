import { remainingOf } from '../../algorithms/verdict.ts'
import type { KeyHash } from '../../hash.ts'
import { Charge, ENFORCED } from '../charge.ts'
import type { Keys, Passage, SharedLane } from '../lane.ts'
import type { House } from './house.ts'
import type { Room } from './key-table.ts'
import type { Shared } from './keys.ts'
import type { StoreTime } from './store-time.ts'
import type { Track } from './track.ts'

/** Makes the engine keep numbers as raw doubles from the start. */
const FRACTION = 0.5

/** The express lane of several limits: sought side by side, judged at one time, taken together or not at all. */
export class Tracks implements SharedLane {
  receipt = 0
  tick = 0
  /** What the call under way has found, or the last one: see `Track.first`. */
  readonly used: number[]
  charges: readonly Charge[] | undefined = undefined
  private readonly tracks: readonly Track[]
  private readonly hash: KeyHash
  private readonly time: StoreTime
  private readonly room: Room
  private readonly house: House
  private readonly theLongWay: (charges: readonly Charge[]) => void

  constructor(
    tracks: readonly Track[],
    shared: Shared,
    house: House,
    theLongWay: (charges: readonly Charge[]) => void,
  ) {
    this.tracks = tracks
    this.used = tracks.flatMap(({ width }) => new Array<number>(width).fill(FRACTION))
    this.hash = shared.hash
    this.time = shared.time
    this.room = shared.room
    this.house = house
    this.theLongWay = theLongWay
  }

  take(keys: Keys): void {
    this.seek(keys)
    const now = this.time.read()
    const passes = this.judge(now)
    if (passes === undefined) {
      this.takeTheLongWay(keys)
      return
    }
    if (passes) this.takeAll(now)
    if (!passes) for (const track of this.tracks) track.leave(now, this.used)
    this.receipt = passes ? this.room.resets + 1 : 0
    this.tick = now
    this.charges = undefined
    this.house.keep()
  }

  copyOfUsed(): readonly number[] {
    return this.used.slice()
  }

  chargesOf(keys: Keys, passage: Passage<readonly number[]>): readonly Charge[] {
    return this.tracks.map((track, i) => {
      const charge = new Charge(track.limit, track.rule, keyAt(keys, i), 1, ENFORCED)
      charge.at = passage.tick
      charge.receipt = passage.receipt
      track.tell(passage, charge)
      return charge
    })
  }

  remainingOf(index: number, { used }: Passage<readonly number[]>): number {
    const { first, units } = this.tracks[index]!
    return remainingOf(used[first]!, units)
  }

  resetAtOf(index: number, passage: Passage<readonly number[]>): number {
    return this.tracks[index]!.resetAt(passage)
  }

  private seek(keys: Keys): void {
    const { tracks } = this
    if (typeof keys === 'string') {
      const first = tracks[0]!
      if (keys !== first.key || first.lo === 0) this.hashFor(first, keys)
      for (let i = 0; i < tracks.length; i++) find(tracks[i]!, first.hi, first.lo)
      return
    }
    for (let i = 0; i < tracks.length; i++) {
      const track = tracks[i]!
      if (keys[i]! !== track.key || track.lo === 0) this.hashFor(track, keys[i]!)
      find(track, track.hi, track.lo)
    }
  }

  private hashFor(track: Track, key: string): void {
    track.lo = this.hash.of(key)
    track.hi = this.hash.hi
    track.key = key
  }

  /** Whether all pass; undefined where one of them needs more than arithmetic. */
  private judge(now: number): boolean | undefined {
    const { used, tracks } = this
    let passes = true
    for (let i = 0; i < tracks.length; i++) {
      const track = tracks[i]!
      if (track.at < 0 || track.space.plain !== true) return undefined
      const one = track.judge(now, used)
      if (one === undefined) return undefined
      if (!one) passes = false
    }
    return passes
  }

  private takeAll(now: number): void {
    const { used, tracks } = this
    for (let i = 0; i < tracks.length; i++) tracks[i]!.take(now, used)
  }

  private takeTheLongWay(keys: Keys): void {
    const charges = this.tracks.map(({ limit, rule }, i) => new Charge(limit, rule, keyAt(keys, i), 1, ENFORCED))
    this.theLongWay(charges)
    this.charges = charges
    this.receipt = charges.every(charge => charge.taken) ? charges[0]!.receipt : 0
  }
}

function find(track: Track, hi: number, lo: number): void {
  const { table } = track
  track.at = table.find(hi, lo)
  const { segment } = table
  if (segment !== track.segment) track.segment = segment // seldom: a reference written costs more than one compared
}

function keyAt(keys: Keys, i: number): string {
  return typeof keys === 'string' ? keys : keys[i]!
}
