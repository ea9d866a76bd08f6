import type * as library from 'sluice'
import type { Policy } from 'sluice'
import type { Contestant } from '../entrant.ts'
import { after, type Keys } from '../keys.ts'

/**
 * A build of the library: this one, or the one of another checkout (`--against`). Nothing here imports the library itself.
 * A second build gets a second instance of this module, so that each has loops of its own: shared ones would see the
 * classes of both, and slow both down.
 */
export type Build = Pick<typeof library, 'createLimiter' | 'memoryStore'>

/** More room than any case has keys: a full table would be a different measurement. */
export const ROOMY = 2 ** 24

/** Decides for the key with this number and returns whether it passed. */
type Decide = (key: number) => boolean

interface Caller {
  readonly user: string
  readonly ip: string
  readonly org: string
}

export function onePolicy({ createLimiter, memoryStore }: Build, policy: Policy, keys: Keys): Contestant {
  const limiter = createLimiter(policy, { store: memoryStore({ maxKeys: ROOMY }) })
  return contestant(keys, key => limiter.consume(`user:${key}`).allowed)
}

/** Reads the numbers, as a handler does that writes its own headers. */
export function numbersRead({ createLimiter, memoryStore }: Build, policy: Policy, keys: Keys): Contestant {
  const limiter = createLimiter(policy, { store: memoryStore({ maxKeys: ROOMY }) })
  return contestant(keys, key => {
    const decision = limiter.consume(`user:${key}`)
    return decision.allowed && decision.remaining + decision.resetAfterMs >= 0
  })
}

export function costOfFive({ createLimiter, memoryStore }: Build, policy: Policy, keys: Keys): Contestant {
  const limiter = createLimiter(policy, { store: memoryStore({ maxKeys: ROOMY }) })
  return contestant(keys, key => limiter.consume(`user:${key}`, { cost: 5 }).allowed)
}

export function newKeys({ createLimiter, memoryStore }: Build, policy: Policy, keys: Keys): Contestant {
  const limiter = createLimiter(policy, { store: memoryStore({ maxKeys: ROOMY }) })
  let visits = 0
  return contestant(keys, () => limiter.consume(`user:${visits++}`).allowed)
}

/** A slot taken and given back counts as one decision. */
export function slotReleased({ createLimiter, memoryStore }: Build, policy: Policy, keys: Keys): Contestant {
  const limiter = createLimiter(policy, { store: memoryStore({ maxKeys: ROOMY }) })
  return contestant(keys, key => {
    const decision = limiter.consume(`user:${key}`)
    decision.release()
    return decision.allowed
  })
}

/** Three limits, each with its own key function, all by the same key: the peer's union also takes one key for its three. */
export function threeByOneKey({ createLimiter, memoryStore }: Build, policy: Policy, keys: Keys): Contestant {
  const limit = { policy, key: (caller: { id: string }) => caller.id }
  const limiter = createLimiter({ limits: { a: limit, b: limit, c: limit }, store: memoryStore({ maxKeys: ROOMY }) })
  return contestant(keys, key => limiter.consume({ id: `user:${key}` }).allowed)
}

/** By three different keys, or with the organisation's limit shared by all. */
export function threeLimits(
  { createLimiter, memoryStore }: Build,
  [byUser, byIp, byOrg]: readonly [Policy, Policy, Policy],
  keys: Keys,
  { shared = false, read = false } = {},
): Contestant {
  const limiter = createLimiter({
    limits: {
      user: { policy: byUser, key: (caller: Caller) => caller.user },
      ip: { policy: byIp, key: (caller: Caller) => caller.ip },
      org: shared ? { policy: byOrg } : { policy: byOrg, key: (caller: Caller) => caller.org },
    },
    store: memoryStore({ maxKeys: ROOMY }),
  })
  const consume = (key: number) => {
    const user = `user:${key}`
    // Each other key is another permutation of the same numbers: three places in memory, none of them near another.
    const ip = `ip:${(key * 7919) % keys.size}`
    return limiter.consume({ user, ip, org: shared ? user : `org:${(key * 104_729) % keys.size}` })
  }
  if (!read) return contestant(keys, key => consume(key).allowed)
  return contestant(keys, key => {
    const decision = consume(key)
    return decision.allowed && decision.remaining + decision.resetAfterMs >= 0
  })
}

function contestant(keys: Keys, decide: Decide): Contestant {
  let at = 0
  return {
    name: 'sluice',
    ways: {
      'the returned decision': count => {
        let admitted = 0
        for (let i = 0; i < count; i++) {
          if (decide(keys.order[at]!)) admitted++
          at = after(keys, at)
        }
        return admitted
      },
    },
  }
}
