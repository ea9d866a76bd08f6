import { createLimiter, memoryStore, type Policy, tokenBucket } from 'sluice'
import type { Contestant } from '../entrant.ts'
import { after, type Keys } from '../keys.ts'

/** Room for every key there is here, with some to spare: a full table would be a different measurement. */
export const ROOMY = 2 ** 24

/**
 * Never refuses and never refills within a run: a key that is whole again may be forgotten, and then Sluice would be
 * timed with fewer live keys than its peers.
 */
export const generousBucket = tokenBucket({ capacity: 1_000_000, refill: '10/h' })

export function sluice(policy: Policy, keys: Keys): Contestant {
  const limiter = createLimiter(policy, { store: memoryStore({ maxKeys: ROOMY }) })
  let at = 0
  return {
    name: 'sluice',
    ways: {
      'the returned decision': count => {
        let admitted = 0
        for (let i = 0; i < count; i++) {
          if (limiter.consume(`user:${keys.order[at]}`).allowed) admitted++
          at = after(keys, at)
        }
        return admitted
      },
    },
  }
}

/** A slot taken and given back counts as one decision. */
export function sluiceWithRelease(policy: Policy, keys: Keys): Contestant {
  const limiter = createLimiter(policy, { store: memoryStore({ maxKeys: ROOMY }) })
  let at = 0
  return {
    name: 'sluice',
    ways: {
      'the returned decision': count => {
        let admitted = 0
        for (let i = 0; i < count; i++) {
          const decision = limiter.consume(`user:${keys.order[at]}`)
          if (decision.allowed) admitted++
          decision.release()
          at = after(keys, at)
        }
        return admitted
      },
    },
  }
}

interface Subject {
  readonly id: string
}

/** Three limits, each with its own key function, decided as one: the peer's union also takes one key for its three. */
export function sluiceOfThree(policy: Policy, keys: Keys): Contestant {
  const limiter = createLimiter({
    limits: {
      a: { policy, key: (subject: Subject) => subject.id },
      b: { policy, key: (subject: Subject) => subject.id },
      c: { policy, key: (subject: Subject) => subject.id },
    },
    store: memoryStore({ maxKeys: ROOMY }),
  })
  let at = 0
  return {
    name: 'sluice',
    ways: {
      'the returned decision': count => {
        let admitted = 0
        for (let i = 0; i < count; i++) {
          if (limiter.consume({ id: `user:${keys.order[at]}` }).allowed) admitted++
          at = after(keys, at)
        }
        return admitted
      },
    },
  }
}
