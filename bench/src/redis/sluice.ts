import { createLimiter, type Decision, type Policy } from 'sluice'
import type { RedisClient, RedisStoreOptions } from 'sluice/redis'
import type { Contestant } from '../entrant.ts'
import { asking, type Load } from './load.ts'
import type { Site } from './site.ts'

export interface Entry {
  readonly site: Site
  readonly client: RedisClient
  readonly load: Load
  /** Of the store. */
  readonly options?: RedisStoreOptions
}

/**
 * The store's defaults but for the deadline: it stands and costs what it does, but where the machine is busy with
 * something else, missing 25 ms would have this process decide, and that is not what is measured here. It is still sooner
 * than ioredis sends anything again (50 ms), as the default is.
 */
export const PATIENT: RedisStoreOptions = { deadline: '35ms' }

let made = 0

/** Each has its keys to itself, under a name of one length. */
function storeAndName({ site, client, options }: Entry) {
  return { store: site.store(client, { ...PATIENT, ...options }), name: `n${made++}` }
}

function limiterOf(entry: Entry, policy: Policy) {
  return createLimiter(policy, storeAndName(entry))
}

export function sluice(entry: Entry, policy: Policy): Contestant {
  const limiter = limiterOf(entry, policy)
  return contestant(entry, key => limiter.consume(key))
}

/** A slot taken and given back counts as one decision. Giving back is not waited for, as it would not be after a response. */
export function sluiceWithRelease(entry: Entry, policy: Policy): Contestant {
  const limiter = limiterOf(entry, policy)
  return contestant(
    entry,
    key => limiter.consume(key),
    decision => decision.release(),
  )
}

/** Every key's log has so many entries when the timing starts. */
export function sluiceWithEntries(entry: Entry, policy: Policy, entries: number): Contestant {
  const limiter = limiterOf(entry, policy)
  const { size } = entry.load.keys
  return {
    ...contestant(entry, key => limiter.consume(key)),
    prepare: async () => {
      for (let i = 0; i < size; i++) {
        await limiter.consume(`user:${i}`, { cost: entries - 1 })
        // A log grows when it is full; that is done here, or every key's first decision would be timed doing it.
        await limiter.consume(`user:${i}`)
      }
    },
  }
}

/** Named limits of one user each, decided as one. */
export function sluiceOfSeveral(entry: Entry, policies: Readonly<Record<string, Policy>>): Contestant {
  const key = (user: string) => user
  const limits = Object.fromEntries(Object.entries(policies).map(([name, policy]) => [name, { policy, key }]))
  const limiter = createLimiter({ limits, ...storeAndName(entry) })
  return contestant(entry, user => limiter.consume(user))
}

function contestant(
  { load }: Entry,
  ask: (key: string) => Promise<Decision>,
  end?: (decision: Decision) => void,
): Contestant {
  let degraded = 0
  const isAdmitted = (decision: Decision) => {
    if (decision.degraded !== false) degraded++
    end?.(decision)
    return decision.allowed && decision.degraded === false
  }
  return {
    name: 'sluice',
    ways: { 'an await each': asking(load, ask, isAdmitted) },
    remark: () => (degraded === 0 ? '' : `, ${degraded} decided WITHOUT Redis`),
  }
}
