/**
 * Which key each decision is for. The first `size` entries are every key once (the fill); after them come
 * pseudo-random ones, to which a cursor at the end returns. Precomputed, so that nobody pays for the randomness; the key
 * string itself is built anew for every decision by every contestant, as a server builds it from a request.
 */
export interface Keys {
  readonly size: number
  readonly order: Uint32Array
}

const SHORTEST_RANDOM_PART = 2 ** 20

export function keysOf(size: number): Keys {
  const order = new Uint32Array(size + Math.max(SHORTEST_RANDOM_PART, 2 * size))
  const random = mulberry32(0x51_01_ce)
  for (let i = 0; i < order.length; i++) order[i] = i < size ? i : Math.floor(random() * size)
  return { size, order }
}

export function after({ size, order }: Keys, at: number): number {
  return at + 1 === order.length ? size : at + 1
}

/** Seeded, so that every run asks for the same keys in the same order. */
function mulberry32(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
