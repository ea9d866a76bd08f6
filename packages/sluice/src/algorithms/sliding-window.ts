import { TICKS_PER_MS } from '../clock.ts'
import type { SlidingWindowPolicy } from '../policy.ts'
import { mulDivCeil, mulDivFloor } from './exact.ts'
import type { Verdict } from './verdict.ts'

/**
 * The sliding window counter. The window is cut into k sub-windows with a count each. The oldest one is weighted by the
 * share of it that is still inside. With k = 1 this is the well-known two-counter estimate; with more sub-windows it
 * comes closer to the exact log.
 *
 * State is k + 2 cells: the index of the newest sub-window counted in, then a ring of k + 1 counts. Sub-window n is at
 * n mod (k + 1). The weighted count is rounded up to a whole request, which keeps it exact. This changes no verdict,
 * because the limit and the cost are whole.
 */
export interface SlidingRule {
  readonly kind: 'sliding'
  readonly policy: SlidingWindowPolicy
  readonly limit: number
  readonly perRequest: 1
  /** k. */
  readonly buckets: number
  readonly subTicks: number
  readonly shape: string
}

export function slidingRule(policy: SlidingWindowPolicy): SlidingRule {
  const subTicks = Math.round(policy.windowMs * TICKS_PER_MS) / policy.buckets
  const { buckets, limit } = policy
  return { kind: 'sliding', policy, limit, perRequest: 1, buckets, subTicks, shape: `sliding ${subTicks} ${buckets}` }
}

/** The cells of one key: `cells[offset]` is the newest index, the ring follows. */
type WindowCells = Float64Array | number[]

export function cellCount(rule: SlidingRule): number {
  return rule.buckets + 2
}

/** The sub-window that contains now. If the clock went backwards, it is the newest one counted in. */
function indexAt(cells: WindowCells, offset: number, rule: SlidingRule, now: number): number {
  return Math.max(indexOf(rule, now), cells[offset]!)
}

export function indexOf(rule: SlidingRule, now: number): number {
  return Math.floor(now / rule.subTicks)
}

/**
 * The cell of sub-window n. It is not `n % ring`: past 32 bits an engine is very slow at that. This is as exact, see
 * exact.ts.
 */
export function placeOf(offset: number, rule: SlidingRule, n: number): number {
  const ring = rule.buckets + 1
  return offset + 1 + n - Math.floor(n / ring) * ring
}

/** The count of sub-window n, given the newest counted one, `cells[offset]`. Sub-windows before the epoch count 0. */
function countOf(cells: WindowCells, offset: number, rule: SlidingRule, n: number): number {
  const newest = cells[offset]!
  return n < 0 || n > newest || n < newest - rule.buckets ? 0 : cells[placeOf(offset, rule, n)]!
}

/** The sum of the sub-windows wholly inside the window that ends in sub-window `index`. */
function wholeCount(cells: WindowCells, offset: number, rule: SlidingRule, index: number): number {
  let sum = 0
  for (let n = index - rule.buckets + 1; n <= index; n++) sum += countOf(cells, offset, rule, n)
  return sum
}

/**
 * What is counted now: the whole sub-windows and the weighted oldest one. It walks back through the ring from the
 * newest count, because finding a place takes a division.
 */
export function used(cells: WindowCells, offset: number, rule: SlidingRule, now: number): number {
  const { buckets, subTicks } = rule
  const newest = cells[offset]!
  const index = indexAt(cells, offset, rule, now)
  const oldest = index - buckets
  if (newest < oldest) return 0
  let place = placeOf(offset, rule, newest)
  let whole = 0
  for (let n = newest; n > oldest; n--) {
    whole += cells[place]!
    place = place > offset + 1 ? place - 1 : offset + 1 + buckets
  }
  const insideTicks = subTicks - Math.max(0, now - index * subTicks)
  return mulDivCeil(cells[place]!, insideTicks, subTicks) + whole
}

/** `count` is what is counted now, see `used`. */
export function decide(
  count: number,
  cells: WindowCells,
  offset: number,
  rule: SlidingRule,
  now: number,
  cost: number,
  out: Verdict,
): void {
  out.allowed = count + cost <= rule.limit
  out.retryAt = out.allowed ? 0 : cost > rule.limit ? Infinity : retryAt(cells, offset, rule, now, cost)
}

/** Searches the coming sub-windows for the first in which the weight of the oldest falls far enough. */
function retryAt(cells: WindowCells, offset: number, rule: SlidingRule, now: number, cost: number): number {
  const { buckets, subTicks } = rule
  let index = indexAt(cells, offset, rule, now)
  for (; ; index++) {
    const free = rule.limit - cost - wholeCount(cells, offset, rule, index)
    if (free < 0) continue
    const oldest = countOf(cells, offset, rule, index - buckets)
    // oldest × (sub − x) ≤ free × sub, solved for the smallest whole x.
    const waitTicks = free >= oldest ? 0 : subTicks - mulDivFloor(subTicks, free, oldest)
    return Math.max(now, index * subTicks + waitTicks)
  }
}

/** `count` is what is counted now, see `used`. */
export function describe(
  count: number,
  cells: WindowCells,
  offset: number,
  rule: SlidingRule,
  now: number,
  out: Verdict,
): void {
  out.used = count
  out.resetAt = count === 0 ? now : Math.max(now, wholeAt(cells, offset, rule))
}

/** When the weight of the newest count reaches zero; 0 if nothing is counted. */
export function wholeAt(cells: WindowCells, offset: number, rule: SlidingRule): number {
  const newest = cells[offset]!
  for (let n = newest; n >= newest - rule.buckets; n--) {
    if (countOf(cells, offset, rule, n) > 0) return outAt(rule, n)
  }
  return 0
}

/** The tick at which sub-window n has left the window entirely. */
export function outAt(rule: SlidingRule, n: number): number {
  return (n + rule.buckets + 1) * rule.subTicks
}

/** Counts a charge. Returns the sub-window it was counted in. */
export function add(cells: WindowCells, offset: number, rule: SlidingRule, now: number, cost: number): number {
  const index = indexAt(cells, offset, rule, now)
  const newest = cells[offset]!
  // Sub-windows skipped since the last charge are empty, but their places in the ring still hold older counts.
  for (let n = Math.max(newest + 1, index - rule.buckets); n <= index; n++) cells[placeOf(offset, rule, n)] = 0
  cells[offset] = index
  const place = placeOf(offset, rule, index)
  cells[place] = cells[place]! + cost
  return index
}

/** Takes a charge back from the sub-window it was counted in, if that is still in the ring. */
export function refund(cells: WindowCells, offset: number, rule: SlidingRule, cost: number, chargedAt: number): void {
  const n = Math.floor(chargedAt / rule.subTicks)
  const count = countOf(cells, offset, rule, n)
  if (count > 0) cells[placeOf(offset, rule, n)] = Math.max(0, count - cost)
}

/** An operator's credit: taken from the newest counts first, never below zero. */
export function credit(cells: WindowCells, offset: number, rule: SlidingRule, cost: number): void {
  let left = cost
  for (let n = cells[offset]!, last = n - rule.buckets; n >= last && left > 0; n--) {
    const count = countOf(cells, offset, rule, n)
    const back = Math.min(count, left)
    if (back > 0) cells[placeOf(offset, rule, n)] = count - back
    left -= back
  }
}

/** The sub-windows that count now, oldest first, each with the share of it that counts. */
export function counters(cells: WindowCells, offset: number, rule: SlidingRule, now: number) {
  const index = indexAt(cells, offset, rule, now)
  const oldest = index - rule.buckets
  const outsideTicks = Math.max(0, now - index * rule.subTicks)
  return Array.from({ length: rule.buckets + 1 }, (_, i) => ({
    n: oldest + i,
    count: countOf(cells, offset, rule, oldest + i),
    weight: i === 0 ? 1 - outsideTicks / rule.subTicks : 1,
  })).filter(({ n }) => n >= 0)
}
