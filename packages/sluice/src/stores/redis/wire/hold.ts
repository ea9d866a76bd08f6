import type { Charge } from '../../charge.ts'

/** A slot or a reservation in Redis. It is found again by its id, which nobody else can guess. */
export interface RedisHold {
  readonly id: number
  readonly cost: number
  readonly expiry: number
  /** How often its key had been reset when it was made. */
  readonly resets: number
  /** How it ended; undefined while nothing is known of that. */
  ended: number | undefined
}

/** Fetched many at a time: asking for randomness takes longer than all else about an id. */
const random = new Uint32Array(256)
let used = random.length

/** 53 random bits: all that a number can carry without loss. */
export function newId(): number {
  if (used === random.length) {
    crypto.getRandomValues(random)
    used = 0
  }
  return (random[used++]! & 0x1fffff) * 2 ** 32 + random[used++]!
}

export function holdOf(charge: Charge): RedisHold | undefined {
  return charge.hold as RedisHold | undefined
}
