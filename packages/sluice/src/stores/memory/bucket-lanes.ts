import type { KeyHash } from '../../hash.ts'
import { Charge, ENFORCED } from '../charge.ts'
import type { Passage, SharedLane } from '../lane.ts'
import type { BucketLane } from './bucket-lane.ts'
import { FAR } from './bucket-ledger.ts'
import type { House } from './house.ts'
import type { Room, Segment } from './key-table.ts'
import type { Shared } from './keys.ts'
import type { StoreTime } from './store-time.ts'

/** The express lane of several buckets: sought side by side, judged at one time, taken together or not at all. */
export class BucketLanes implements SharedLane {
  receipt = 0
  tick = 0
  used: readonly number[] = []
  charges: readonly Charge[] | undefined = undefined
  private readonly lanes: readonly BucketLane[]
  private readonly hash: KeyHash
  private readonly time: StoreTime
  private readonly room: Room
  private readonly house: House
  private readonly theLongWay: (charges: Charge[]) => void
  /** What the call under way has found: where each key stands, and its level. */
  private readonly segments: Segment[] = []
  private readonly places: number[] = []
  private readonly levels: number[] = []

  constructor(
    lanes: readonly BucketLane[],
    shared: Shared,
    house: House,
    theLongWay: (charges: readonly Charge[]) => void,
  ) {
    this.lanes = lanes
    this.hash = shared.hash
    this.time = shared.time
    this.room = shared.room
    this.house = house
    this.theLongWay = theLongWay
    for (const lane of lanes) {
      this.segments.push(lane.table.segmentOf(0))
      this.places.push(0)
      this.levels.push(0.5) // a fraction, so that the engine keeps them as raw doubles
    }
  }

  take(keys: string | readonly string[]): void {
    this.seek(keys)
    this.time.read()
    const passes = this.judge(this.time.now)
    if (passes === undefined) {
      this.takeTheLongWay(keys)
      return
    }
    if (passes) this.fill(this.time.now)
    this.receipt = passes ? this.room.resets + 1 : 0
    this.tick = this.time.now
    this.used = this.levels.slice()
    this.charges = undefined
    this.house.keep()
  }

  chargesOf(keys: string | readonly string[], { receipt, tick, used }: Passage<readonly number[]>): readonly Charge[] {
    return this.lanes.map((lane, i) => lane.chargeOf(keyAt(keys, i), receipt, tick, used[i]!))
  }

  private seek(keys: string | readonly string[]): void {
    const { hash, lanes, places, segments } = this
    const same = typeof keys === 'string'
    let lo = same ? hash.of(keys) : 0
    for (let i = 0; i < lanes.length; i++) {
      if (!same) lo = hash.of(keys[i]!)
      const { table } = lanes[i]!
      const segment = table.segmentOf(hash.hi)
      segments[i] = segment
      places[i] = table.find(segment, hash.hi, lo)
    }
  }

  /** Whether all pass; undefined where one of them needs more than arithmetic. */
  private judge(now: number): boolean | undefined {
    const { lanes, levels, places, segments } = this
    let passes = true
    for (let i = 0; i < lanes.length; i++) {
      const { perTick, highest, space } = lanes[i]!
      const segment = segments[i]!
      const units = (now - segment.origin) * perTick
      if (places[i]! < 0 || units >= FAR || space.plain !== true) return undefined
      let level = segment.cells[places[i]!]! - units
      if (level < 0) level = 0
      levels[i] = level
      if (level > highest) passes = false
    }
    return passes
  }

  private fill(now: number): void {
    const { lanes, levels, places, segments } = this
    for (let i = 0; i < lanes.length; i++) {
      const { perTick, perRequest } = lanes[i]!
      const segment = segments[i]!
      const level = levels[i]! + perRequest
      levels[i] = level
      segment.cells[places[i]!] = (now - segment.origin) * perTick + level
    }
  }

  private takeTheLongWay(keys: string | readonly string[]): void {
    const charges = this.lanes.map(({ limit, rule }, i) => new Charge(limit, rule, keyAt(keys, i), 1, ENFORCED))
    this.theLongWay(charges)
    this.charges = charges
    this.receipt = charges.every(charge => charge.taken) ? charges[0]!.receipt : 0
  }
}

function keyAt(keys: string | readonly string[], i: number): string {
  return typeof keys === 'string' ? keys : keys[i]!
}
