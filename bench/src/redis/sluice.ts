import { createLimiter, type Decision, type Policy } from 'sluice'
import type { RedisClient, RedisStoreOptions } from 'sluice/redis'
import type { Contestant } from '../entrant.ts'
import type { Enter } from './contest.ts'
import { asking, type Load } from './load.ts'
import { type Client, ioredis, type Site } from './site.ts'

/** What of the store is not as the others have it. */
export interface Setting {
  readonly name?: string
  readonly client?: Client<RedisClient>
  readonly options?: RedisStoreOptions
}

/**
 * The store's defaults but for the deadline: it stands and costs what it does, but where the machine is busy with
 * something else, missing 25 ms would have this process decide, and that is not what is measured here. It is still sooner
 * than ioredis sends anything again (50 ms), as the default is.
 */
export const PATIENT: RedisStoreOptions = { deadline: '35ms' }

/** Each contestant has its keys to itself. */
async function storeAndName(site: Site, { client = ioredis, options }: Setting) {
  return { store: site.store(await client(site), { ...PATIENT, ...options }), name: `n${site.number}` }
}

export function sluice(policy: Policy, setting: Setting = {}): Enter {
  return async (site, load) => {
    const limiter = createLimiter(policy, await storeAndName(site, setting))
    return contestant(setting, load, key => limiter.consume(key))
  }
}

/** A slot taken and given back counts as one decision. Giving back is not waited for, as it would not be after a response. */
export function sluiceWithRelease(policy: Policy): Enter {
  return async (site, load) => {
    const limiter = createLimiter(policy, await storeAndName(site, {}))
    return contestant(
      {},
      load,
      key => limiter.consume(key),
      decision => decision.release(),
    )
  }
}

/** Every key's log has so many entries when the timing starts. */
export function sluiceWithEntries(policy: Policy, entries: number, setting: Setting): Enter {
  return async (site, load) => {
    const limiter = createLimiter(policy, await storeAndName(site, setting))
    return {
      ...contestant(setting, load, key => limiter.consume(key)),
      prepare: async () => {
        for (let i = 0; i < load.keys.size; i++) {
          await limiter.consume(`user:${i}`, { cost: entries - 1 })
          // A log grows when it is full; that is done here, or every key's first decision would be timed doing it.
          await limiter.consume(`user:${i}`)
        }
      },
    }
  }
}

/** Named limits of one user each, decided as one. */
export function sluiceOfSeveral(policies: Readonly<Record<string, Policy>>): Enter {
  const key = (user: string) => user
  const limits = Object.fromEntries(Object.entries(policies).map(([name, policy]) => [name, { policy, key }]))
  return async (site, load) => {
    const limiter = createLimiter({ limits, ...(await storeAndName(site, {})) })
    return contestant({}, load, user => limiter.consume(user))
  }
}

function contestant(
  { name = 'sluice' }: Setting,
  load: Load,
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
    name,
    ways: { 'an await each': asking(load, ask, isAdmitted) },
    remark: () => (degraded === 0 ? '' : `, ${degraded} decided WITHOUT Redis`),
  }
}
