import { checkOptions } from '../check-options.ts'
import { expected } from '../errors.ts'
import { createLimiter } from '../limiter/create.ts'
import type { Limiter } from '../limiter/limiter.ts'
import type { LimitOptions } from '../limiter/limits.ts'
import { fixedWindow, type Policy } from '../policy.ts'
import type { Mode, Store } from '../stores/store.ts'

/** One caller and its window, which begins with the caller's first request, as in other limiters. */
export interface WindowSubject {
  readonly key: string
  readonly limit: number
  readonly windowMs: number
}

type WindowOptions = Pick<LimitOptions<WindowSubject>, 'onOutage' | 'blockFor'> & { store: Store | undefined }

export function windowLimiter(name: string, { store, ...own }: WindowOptions): Limiter<WindowSubject, Mode> {
  const policies = new Map<string, Policy>()
  const policyOf = ({ limit, windowMs }: WindowSubject) => {
    const id = `${limit} ${windowMs}`
    const policy = policies.get(id) ?? fixedWindow({ limit, window: `${windowMs}ms`, align: 'first' })
    if (policies.size < MOST_POLICIES) policies.set(id, policy)
    return policy
  }
  const limits = { default: { policy: policyOf, key: ({ key }: WindowSubject) => key, ...own } }
  return createLimiter<WindowSubject, Mode>(store === undefined ? { name, limits } : { name, store, limits })
}

const MOST_POLICIES = 1000

/** Refuses options that are unknown, and those that Sluice replaces by another way, which the error names. */
export function checkPeerOptions<T extends object>(
  call: string,
  options: T,
  known: readonly string[],
  instead: Readonly<Record<string, string>>,
): T {
  const own = checkOptions(call, options, [...known, ...Object.keys(instead)])
  for (const [name, value] of Object.entries(own)) {
    if (Object.hasOwn(instead, name)) {
      throw expected('SLUICE_NOT_SUPPORTED', `${call} without ${name}`, value, instead[name]!)
    }
  }
  return own
}

/** Requires a store of Sluice: stores of other limiters hold counts that no other algorithm can use. */
export function sluiceStore(call: string, store: unknown): Store | undefined {
  if (store === undefined) return undefined
  if (typeof store === 'object' && store !== null && 'ask' in store && 'bind' in store) return store as Store
  throw expected('SLUICE_NOT_SUPPORTED', `${call} with memoryStore() or redisStore(client) of Sluice as store`, store)
}
