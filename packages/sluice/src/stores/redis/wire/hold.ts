import type { Charge } from '../../charge.ts'

/** A slot or a reservation in Redis. It is found by its id, which other clients cannot guess. */
export interface RedisHold {
  readonly id: number
  readonly cost: number
  readonly expiry: number
  /** How often its key had been reset when it was made. */
  readonly resets: number
  /** How it ended; undefined while that is unknown. */
  ended: number | undefined
}

/** Random bytes are fetched for many ids at a time, because asking for them takes longer than the rest. */
const random = new Uint32Array(256)
let used = random.length

/** 53 random bits: as many as a double can hold exactly. */
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
