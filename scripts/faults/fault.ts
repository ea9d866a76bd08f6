/** One mistake to plant in a copy of the library, as data: `find` stands exactly once in `file`, under packages/sluice/src. */
export interface Fault {
  /** The laws that it breaks, by their numbers in `storeSuite`. */
  readonly law: readonly number[]
  readonly part: Part
  /** The fault in plain words. */
  readonly says: string
  readonly file: string
  readonly find: string
  readonly replace: string
  /** The test files that must find the fault if the store suite cannot, because it is outside a store. */
  readonly tests?: readonly string[]
}

export type Part = keyof typeof PARTS

/** Every part that must have a fault, and the words that identify its suite cases, which run first. */
export const PARTS = {
  'token bucket': /tokenBucket/,
  'leaky bucket': /leakyBucket|leaky/,
  GCRA: /gcra/,
  'fixed window': /fixedWindow/,
  'sliding window': /slidingWindow/,
  'sliding log': /slidingLog|log/,
  concurrency: /concurrency|slot/,
  blocks: /block/,
  reservations: /reserv|held/,
  bookings: /book/,
  shadow: /shadow/,
  time: /time|silence/,
  hash: /key/,
  table: /crowd|tables|by turns/,
  pool: /pool|full table/,
  store: /together|reset/,
  limiter: /limits|release\(\)/,
  'deny cache': /cache/,
  outages: /store/,
  guard: /guard/,
} as const satisfies Record<string, RegExp>

export const LAWS: readonly number[] = Array.from({ length: 12 }, (_, n) => n + 1)
