export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The median of the ratios within each round: what slows a whole round down slows both sides and cancels. */
export function medianRatio(ours: readonly number[], theirs: readonly number[]): number {
  return median(ours.map((value, round) => value / theirs[round]!))
}

/** How far a ratio is from 1, the same in both directions: 1.25 and 0.8 are both 0.25 away. */
export function distance(ratio: number): number {
  return Math.max(ratio, 1 / ratio) - 1
}

const RESAMPLES = 1000
const CONFIDENCE = 0.95

/**
 * The A/A spread: how far from 1 the median ratio of the same code against itself may be by chance. The bootstrap draws
 * as many rounds as there were, with repetition, again and again, and leaves out the twentieth of the medians that is
 * farthest from 1. So more rounds make the spread narrower, and one wild round does not widen it.
 */
export function spread(ours: readonly number[], again: readonly number[]): number {
  const ratios = ours.map((value, round) => value / again[round]!)
  const random = mulberry32(0xaa)
  const draw = () => median(ratios.map(() => ratios[Math.floor(random() * ratios.length)]!))
  const distances = Array.from({ length: RESAMPLES }, () => distance(draw())).toSorted((a, b) => a - b)
  return distances[Math.ceil(RESAMPLES * CONFIDENCE) - 1]!
}

/** Seeded random numbers, so that every run draws the same rounds. */
export function mulberry32(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The median and the 99th percentile, in microseconds, of times in milliseconds. */
export function quantilesUs(timesMs: readonly number[]): { p50Us: number; p99Us: number } {
  const sorted = timesMs.toSorted((a, b) => a - b)
  const at = (share: number) => 1000 * sorted[Math.ceil(sorted.length * share) - 1]!
  return { p50Us: at(0.5), p99Us: at(0.99) }
}
