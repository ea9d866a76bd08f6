import { createLimiter, type Decision, type Policy } from 'sluice'
import type { RedisClient, RedisStoreOptions } from 'sluice/redis'
import type { Contestant } from '../entrant.ts'
import type { Enter } from './contest.ts'
import { asking, type Load } from './load.ts'
import { type Client, ioredis, type Site } from './site.ts'

/** How this contestant's store differs from that of the others. */
export interface Setting {
  readonly name?: string
  readonly client?: Client<RedisClient>
  readonly options?: RedisStoreOptions
}

/**
 * The store's defaults with a longer deadline. On a busy machine Redis may miss the default of 25 ms, and this process
 * would then decide by itself, which is not what is measured. The deadline still costs its time, and like the default
 * it is shorter than the 50 ms after which ioredis sends a command again.
 */
export const PATIENT: RedisStoreOptions = { deadline: '35ms' }

/** Each contestant has keys of its own. */
async function storeAndName(site: Site, { client = ioredis, options }: Setting) {
  return { store: site.store(await client(site), { ...PATIENT, ...options }), name: `n${site.number}` }
}

export function sluice(policy: Policy, setting: Setting = {}): Enter {
  return async (site, load) => {
    const limiter = createLimiter(policy, await storeAndName(site, setting))
    return contestant(setting, load, key => limiter.consume(key))
  }
}

/** A slot taken and given back counts as one decision. It does not wait for the release. */
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

/** How many entries every key's log has when the timing starts. */
export function sluiceWithEntries(policy: Policy, entries: number, setting: Setting): Enter {
  return async (site, load) => {
    const limiter = createLimiter(policy, await storeAndName(site, setting))
    return {
      ...contestant(setting, load, key => limiter.consume(key)),
      prepare: async () => {
        for (let i = 0; i < load.keys.size; i++) {
          await limiter.consume(`user:${i}`, { cost: entries - 1 })
          // A log grows when it is full. Let it grow here: otherwise the growth would be timed with every key's first
          // decision.
          await limiter.consume(`user:${i}`)
        }
      },
    }
  }
}

/** Several named limits for one user, decided in one call. */
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
