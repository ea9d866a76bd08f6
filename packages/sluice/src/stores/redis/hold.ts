import type { Charge } from '../store.ts'

/** A slot or a reservation in Redis. It is found again by its id, which nobody else can guess. */
export interface RedisHold {
  readonly id: number
  readonly cost: number
  readonly expiry: number
  /** How it ended; undefined while nothing is known of that. */
  ended: number | undefined
}

const random = new Uint32Array(2)

/** 53 random bits: all that a number can carry without loss. */
export function newId(): number {
  crypto.getRandomValues(random)
  return (random[0]! & 0x1fffff) * 2 ** 32 + random[1]!
}

export function holdOf(charge: Charge): RedisHold | undefined {
  return charge.hold as RedisHold | undefined
}
