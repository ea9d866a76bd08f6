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

/**
 * The A/A spread: how far apart the same code comes out within a round, the worst tenth of the rounds left out (with 11
 * rounds, one). It is a spread of single rounds set against ratios that are medians of rounds, so it errs on the strict side.
 */
export function spread(ours: readonly number[], again: readonly number[]): number {
  const distances = ours.map((value, round) => distance(value / again[round]!)).toSorted((a, b) => a - b)
  return distances[Math.ceil(distances.length * 0.9) - 1]!
}

/** The median and the 99th percentile of times in milliseconds, in microseconds. */
export function quantilesUs(timesMs: readonly number[]): { p50Us: number; p99Us: number } {
  const sorted = timesMs.toSorted((a, b) => a - b)
  const at = (share: number) => 1000 * sorted[Math.ceil(sorted.length * share) - 1]!
  return { p50Us: at(0.5), p99Us: at(0.99) }
}
