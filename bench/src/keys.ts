import { mulberry32 } from './statistics.ts'

/**
 * The key of each decision. The first `size` entries are every key once (the fill). Pseudo-random ones follow, and a
 * cursor at the end returns to their start. They are computed beforehand, so that no contestant pays for the
 * randomness. Every contestant builds the key string anew for every decision, as a server builds it from a request.
 */
export interface Keys {
  readonly size: number
  readonly order: Uint32Array
}

const SHORTEST_RANDOM_PART = 2 ** 20

export function keysOf(size: number): Keys {
  const order = new Uint32Array(size + Math.max(SHORTEST_RANDOM_PART, 2 * size))
  // Every run asks for the same keys in the same order.
  const random = mulberry32(0x51_01_ce)
  for (let i = 0; i < order.length; i++) order[i] = i < size ? i : Math.floor(random() * size)
  return { size, order }
}

export function after({ size, order }: Keys, at: number): number {
  return at + 1 === order.length ? size : at + 1
}
