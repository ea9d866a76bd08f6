import * as bucket from '../../algorithms/bucket.ts'
import * as slots from '../../algorithms/concurrency.ts'
import * as fixed from '../../algorithms/fixed-window.ts'
import type { Rule } from '../../algorithms/rule.ts'
import * as log from '../../algorithms/sliding-log.ts'
import * as sliding from '../../algorithms/sliding-window.ts'
import { stableHash } from '../../hash.ts'
import type { Charge } from '../charge.ts'
import { bucketData, fixedData, type LimitData, logData, slidingData, slotsData } from '../inspection.ts'
import { Handles } from './handles.ts'
import type { TableSegment } from './key-table.ts'
import { apart, type MemoryContext, PooledKeyTable, type PoolOwner } from './pooled-key-table.ts'

/** This many units from a segment's origin, sums of doubles may stop being exact whole numbers. */
const FAR = 2 ** 52
/** Bookings may raise a level up to here: one more on top is still exact. */
const MAX_BOOKED = 2 ** 51
/** Bytes, measured: a ring with its list, without its times. */
const RING_BYTES = 130
/** Bytes, measured: a queue of holders, and one more holder in it. */
const QUEUE_BYTES = 100
const HOLDER_BYTES = 120
/** How many holders a queue that keys share may have. */
const MOST_POOLED = 16
/** How many times all pooled rings together may hold. */
const POOLED_TIMES = 2 ** 20

/**
 * The state of all keys of one limit under rules of one shape, of any kind. A decision calls `find`, `load`, `judge`,
 * `take` if it passes, then `describe`. The key is looked up once; the table remembers it until the next `find`.
 *
 * The first double of a key says when it is idle:
 * - bucket: the moment it is dry, in units since the segment's origin; the level is that minus now
 * - fixed: the tick its window ends, then the count
 * - sliding: the index of the newest sub-window, then the ring of counts
 * - log: the tick of the newest time, then the handle of its ring
 * - slots: the last expiry, then the handle of its queue of holders
 */
export class StateTable implements PoolOwner {
  readonly keys: PooledKeyTable
  private readonly rule: Rule
  private readonly context: MemoryContext
  /** All tables of bucket rules of the limit: a key that returns under another rate brings its level along. */
  private readonly family: readonly StateTable[]
  private readonly rings: Handles<log.Ring>
  private readonly queues: Handles<slots.Slots>
  /** The cells of a key not seen yet. */
  private readonly fresh: Float64Array
  private readonly freshRing = new log.Ring()
  private readonly freshQueue = new slots.Slots()
  /**
   * What `load` found: a bucket's level now or a window's count; the end of that window; or where the rest is stored.
   */
  private counted = 0.5
  private endAt = 0.5
  private cells: Float64Array
  private offset = 0
  private ring = this.freshRing
  private queue = this.freshQueue
  /** The number of the ring or queue. */
  private handle = 0

  constructor(rule: Rule, context: MemoryContext, family: readonly StateTable[]) {
    const width = rule.kind === 'bucket' ? 1 : rule.kind === 'sliding' ? sliding.cellCount(rule) : 2
    this.keys = new PooledKeyTable(width, this, context, rule.kind === 'log' ? poolSizeFor(rule.limit) : undefined)
    this.rings = new Handles(context.budget)
    this.queues = new Handles(context.budget)
    this.rule = rule
    this.context = context
    this.family = family
    this.fresh = new Float64Array(width)
    this.cells = this.fresh
  }

  /** Looks a key up; `load` reads its state. They are separate so that the processor can fetch several keys at once. */
  find(key: string, now: number): void {
    this.keys.find(key, now)
  }

  load(rule: Rule, key: string, now: number): void {
    const { keys } = this
    const { at, segment } = keys
    switch (rule.kind) {
      case 'bucket':
        if (at >= 0) this.counted = this.levelAt(segment, at, rule, now)
        else this.counted = this.family.length > 1 ? this.inherited(rule, key, now) : 0
        break
      case 'fixed':
        this.endAt = at < 0 ? 0 : segment.cells[at]!
        this.counted = at < 0 ? 0 : segment.cells[at + 1]!
        if (now >= this.endAt) {
          this.counted = 0
          this.endAt = rule.endAfter(now, phaseOf(rule, key))
        }
        break
      case 'sliding':
        this.cells = at < 0 ? this.fresh : segment.cells
        this.offset = at < 0 ? 0 : at
        break
      case 'log':
        this.handle = at < 0 ? 0 : segment.cells[at + 1]!
        this.ring = this.rings.get(this.handle) ?? this.freshRing
        log.expire(this.ring, rule, now)
        this.rings.weigh(this.handle, ringBytes(this.ring))
        break
      case 'slots':
        this.handle = at < 0 ? 0 : segment.cells[at + 1]!
        this.queue = this.queues.get(this.handle) ?? this.freshQueue
        this.queue.expire(now)
        this.queues.weigh(this.handle, queueBytes(this.queue))
    }
  }

  locate({ rule, key }: Charge, now: number): void {
    this.find(key, now)
    this.load(rule, key, now)
  }

  /** Whether `cost` passes for the key that was loaded, and if not, when. */
  judge(charge: Charge, cost: number, now: number): void {
    const { rule } = charge
    switch (rule.kind) {
      case 'bucket':
        bucket.decide(this.counted, rule, now, cost, charge)
        break
      case 'fixed':
        fixed.decide(this.counted, this.endAt, rule, cost, charge)
        break
      case 'sliding':
        sliding.decide(this.cells, this.offset, rule, now, cost, charge)
        break
      case 'log':
        log.decide(this.ring, rule, cost, charge)
        if (charge.allowed && this.ring.count + cost > this.ring.capacity) this.judgeGrowth(rule, charge, now)
        break
      case 'slots':
        slots.decide(this.queue, rule, cost, charge)
        if (charge.allowed && cost > 0) this.judgeSlot(charge)
    }
  }

  /**
   * In a full store a log does not grow: a cost that needs more times than it has places is refused until some expire.
   */
  private judgeGrowth(rule: log.LogRule, charge: Charge, now: number): void {
    const { keys, ring, context } = this
    if (keys.pooled || context.budget.live < context.budget.max) return
    context.overflowed()
    charge.allowed = false
    charge.retryAt = (ring.count === 0 ? now : ring.at(0)) + rule.windowTicks
  }

  /**
   * In a full store a key that holds slots gets no more until it has given one back, and keys that share a queue have a
   * few slots between them.
   */
  private judgeSlot(charge: Charge): void {
    const { keys, queue, context } = this
    const few = keys.pooled ? MOST_POOLED : 1
    if (queue.count < few || context.budget.live < context.budget.max) return
    context.overflowed()
    charge.allowed = false
    charge.retryAt = queue.freedAt(1)
  }

  take(charge: Charge, cost: number, now: number): void {
    const { rule, key } = charge
    switch (rule.kind) {
      case 'bucket':
        this.writeLevel(rule, key, now, bucket.add(this.counted, rule, cost))
        break
      case 'fixed':
        this.writeCount(key, now, this.counted + cost)
        break
      case 'sliding':
        this.offset = this.keys.make(key, now)
        this.cells = this.keys.segment.cells
        sliding.add(this.cells, this.offset, rule, now, cost)
        break
      case 'log':
        this.writeRing(key, now).push(now, cost, rule.limit)
        this.rings.weigh(this.handle, ringBytes(this.ring))
        break
      case 'slots':
        charge.hold = this.writeQueue(key, now, now + rule.ttlTicks).acquire(cost, now + rule.ttlTicks)
        this.queues.weigh(this.handle, queueBytes(this.queue))
    }
  }

  describe(charge: Charge, now: number): void {
    const { rule } = charge
    switch (rule.kind) {
      case 'bucket':
        bucket.describe(this.counted, rule, now, charge)
        break
      case 'fixed':
        fixed.describe(this.counted, this.endAt, now, charge)
        break
      case 'sliding':
        sliding.describe(this.cells, this.offset, rule, now, charge)
        break
      case 'log':
        log.describe(this.ring, rule, now, charge)
        break
      case 'slots':
        slots.describe(this.queue, now, charge)
    }
  }

  /** What is counted for the located key, in requests, rounded up: more than the limit after an overdraft. */
  countedFor({ rule }: Charge, now: number): number {
    switch (rule.kind) {
      case 'bucket':
        return Math.ceil(this.counted / rule.perRequest)
      case 'fixed':
        return this.counted
      case 'sliding':
        return sliding.used(this.cells, this.offset, rule, now)
      case 'log':
        return this.ring.count
      case 'slots':
        return this.queue.held
    }
  }

  /** Takes back a charge made at tick `chargedAt`, by law 12. A slot is given back by `release` instead. */
  refund(charge: Charge, now: number, chargedAt: number): void {
    const { rule, key, cost } = charge
    this.locate(charge, now)
    switch (rule.kind) {
      case 'bucket': {
        const level = bucket.refunded(this.counted, rule, now, cost, chargedAt)
        if (level !== this.counted) this.writeLevel(rule, key, now, level)
        break
      }
      case 'fixed':
        if (this.keys.at >= 0 && fixed.sameWindow(this.endAt, rule, chargedAt, phaseOf(rule, key)))
          this.writeCount(key, now, Math.max(0, this.counted - cost))
        break
      case 'sliding':
        sliding.refund(this.cells, this.offset, rule, cost, chargedAt)
        break
      case 'log':
        log.refund(this.ring, rule, now, cost, chargedAt)
    }
  }

  /** Gives `charge.cost` back, up to a full limit. */
  credit(charge: Charge, now: number): void {
    const { rule, key, cost } = charge
    this.locate(charge, now)
    switch (rule.kind) {
      case 'bucket':
        if (this.counted > 0) this.writeLevel(rule, key, now, bucket.credited(this.counted, rule, cost))
        break
      case 'fixed':
        if (this.counted > 0) this.writeCount(key, now, Math.max(0, this.counted - cost))
        break
      case 'sliding':
        sliding.credit(this.cells, this.offset, rule, cost)
        break
      case 'log':
        this.ring.dropOldest(Math.min(cost, this.ring.count))
    }
  }

  /** Books a start within `bookTicks`, beyond what fits now. The verdict says when it is. */
  book(charge: Charge, now: number, bookTicks: number): void {
    const { rule } = charge
    if (rule.kind !== 'bucket') return
    const start = bucket.startAt(this.counted, rule, now, charge.cost)
    const fits = rule.queue ? charge.allowed : charge.retryAt < Infinity
    charge.allowed = fits && start - now <= bookTicks && this.counted < MAX_BOOKED
    if (charge.allowed) {
      charge.retryAt = start
      // Counted as of the start: the bucket may be empty before then, and the drain it missed is no credit.
      if (!rule.queue) this.counted = Math.max(this.counted, (start - now) * rule.perTick)
      this.take(charge, charge.cost, now)
    } else if (fits) charge.retryAt = Math.max(charge.retryAt, start - bookTicks)
  }

  /** Gives the slot of a charge back, or holds it for another ttl; 1 if it was still held. */
  endSlot({ rule, key, hold }: Charge, now: number, renews: boolean): number {
    if (!(hold instanceof slots.Holder) || rule.kind !== 'slots') return 0
    const wasHeld = renews ? hold.renew(now, now + rule.ttlTicks) : hold.release(now)
    this.find(key, now)
    this.load(rule, key, now)
    if (this.keys.at >= 0) this.keys.segment.cells[this.keys.at] = this.queue.lastExpiry
    return Number(wasHeld)
  }

  forget(key: string, now: number): void {
    if (this.rule.kind === 'bucket') for (const table of this.family) table.keys.forget(key, now)
    else this.keys.forget(key, now)
  }

  /** The state of the key that was loaded, as data. */
  inspect(rule: Rule, now: number): LimitData {
    switch (rule.kind) {
      case 'bucket':
        return bucketData(this.counted, rule, now)
      case 'fixed':
        return fixedData(this.counted, this.endAt, rule)
      case 'sliding':
        return slidingData(this.cells, this.offset, rule, now)
      case 'log':
        return logData(Array.from({ length: this.ring.count }, (_, n) => this.ring.at(n)))
      case 'slots':
        return slotsData(this.queue.holders)
    }
  }

  /** The bytes of the key that was loaded. */
  get bytes(): number {
    if (this.keys.at < 0) return 0
    const cells = 8 * (this.keys.table.width + 1)
    if (this.rule.kind === 'log') return cells + ringBytes(this.ring)
    return this.rule.kind === 'slots' ? cells + queueBytes(this.queue) : cells
  }

  /** A table with a copy of this one key, for simulations. */
  replica(key: string, now: number): StateTable {
    const { rule } = this
    const copy = new StateTable(rule, apart(this.context), [])
    this.find(key, now)
    this.load(rule, key, now) // may fetch a bucket from another table
    if (this.keys.at < 0 || rule.kind === 'slots') return copy
    copy.find(key, now)
    const at = copy.keys.make(key, now)
    if (rule.kind === 'log') copy.copyRing(this.ring, copy.keys.segment, at)
    else this.copy(this.keys.segment, this.keys.at, copy.keys.segment, at, now)
    return copy
  }

  idleUpTo(segment: TableSegment, now: number): number {
    const { rule } = this
    switch (rule.kind) {
      case 'bucket':
        return this.unitsAt(segment, rule, now)
      case 'sliding':
        return sliding.indexOf(rule, now) - rule.buckets - 1
      case 'log':
        return now - rule.windowTicks
      default:
        return now
    }
  }

  dropped(segment: TableSegment, offset: number): void {
    if (this.rule.kind === 'log') this.rings.remove(segment.cells[offset + 1]!)
    else if (this.rule.kind === 'slots') this.queues.remove(segment.cells[offset + 1]!)
  }

  copy(from: TableSegment, fromOffset: number, to: TableSegment, toOffset: number, now: number): boolean {
    const { rule } = this
    switch (rule.kind) {
      case 'bucket': {
        const level = this.levelAt(from, fromOffset, rule, now)
        to.cells[toOffset] = this.unitsAt(to, rule, now) + level
        return true
      }
      case 'log':
        this.copyRing(this.rings.get(from.cells[fromOffset + 1]!)!, to, toOffset)
        return true
      case 'slots':
        return false // holders give back to the queue they are in, so a queue in use must not be copied
      default:
        for (let i = 0; i < this.keys.table.width; i++) to.cells[toOffset + i] = from.cells[fromOffset + i]!
        return true
    }
  }

  private levelAt(segment: TableSegment, offset: number, rule: bucket.BucketRule, now: number): number {
    const units = this.unitsAt(segment, rule, now) // call this first: it may move the cells to a new origin
    const level = segment.cells[offset]! - units
    return level > 0 ? level : 0
  }

  private writeLevel(rule: bucket.BucketRule, key: string, now: number, level: number): void {
    const at = this.keys.make(key, now)
    const { segment } = this.keys
    segment.cells[at] = this.unitsAt(segment, rule, now) + level
    this.counted = level
  }

  private writeCount(key: string, now: number, count: number): void {
    const at = this.keys.make(key, now)
    const { cells } = this.keys.segment
    cells[at] = this.endAt
    cells[at + 1] = count
    this.counted = count
  }

  private writeRing(key: string, now: number): log.Ring {
    const at = this.keys.make(key, now)
    const { cells } = this.keys.segment
    if (this.ring === this.freshRing) {
      this.ring = new log.Ring()
      this.handle = this.rings.add(this.ring)
      cells[at + 1] = this.handle
    }
    cells[at] = Math.max(cells[at]!, now)
    return this.ring
  }

  private copyRing(ring: log.Ring, to: TableSegment, offset: number): void {
    const copy = new log.Ring()
    copy.copyFrom(ring)
    to.cells[offset] = copy.newest
    const handle = this.rings.add(copy)
    this.rings.weigh(handle, ringBytes(copy))
    to.cells[offset + 1] = handle
  }

  private writeQueue(key: string, now: number, expiry: number): slots.Slots {
    const at = this.keys.make(key, now)
    const { cells } = this.keys.segment
    if (this.queue === this.freshQueue) {
      this.queue = new slots.Slots()
      this.handle = this.queues.add(this.queue)
      cells[at + 1] = this.handle
    }
    cells[at] = Math.max(expiry, this.queue.lastExpiry)
    return this.queue
  }

  /** Now, in units since the segment's origin. */
  private unitsAt(segment: TableSegment, rule: bucket.BucketRule, now: number): number {
    const units = (now - segment.origin) * rule.perTick
    return units < FAR ? units : rebase(segment, now, units)
  }

  /** What the key held under another rate. It is moved here from that rate's table. */
  private inherited(rule: bucket.BucketRule, key: string, now: number): number {
    for (const other of this.family) {
      if (other === this || other.rule.kind !== 'bucket') continue
      other.keys.find(key, now)
      if (other.keys.at < 0) continue
      const level = bucket.converted(
        other.levelAt(other.keys.segment, other.keys.at, other.rule, now),
        other.rule,
        rule,
      )
      other.keys.forget(key, now)
      this.keys.find(key, now)
      if (level > 0) this.writeLevel(rule, key, now, level)
      return level
    }
    return 0
  }
}

/**
 * Moves a segment's origin to now, so that its units stay small enough to be exact. Levels that were empty before now
 * stay so: a reservation that expired before now is charged as of then.
 */
function rebase(segment: TableSegment, now: number, units: number): number {
  const { cells, mask } = segment
  for (let offset = 1; offset <= mask * 2 + 1; offset += 2) cells[offset] = Math.max(-FAR, cells[offset]! - units)
  segment.origin = now
  return 0
}

/**
 * Where this key's windows start. A hash that all processes share spreads the starts, so that not all keys reset at
 * once.
 */
function phaseOf(rule: fixed.FixedRule, key: string): number {
  return rule.policy.align === 'key' ? stableHash(key, rule.windowTicks) : 0
}

function ringBytes(ring: log.Ring): number {
  return RING_BYTES + 8 * ring.capacity
}

function queueBytes(queue: slots.Slots): number {
  return QUEUE_BYTES + HOLDER_BYTES * Math.max(1, queue.count)
}

function poolSizeFor(limit: number): number {
  return Math.max(1, 2 ** Math.floor(Math.log2(POOLED_TIMES / Math.max(1, limit))))
}
