import { expected } from '../errors.ts'
import type { PolicyLike } from '../policy.ts'
import type { Space } from '../stores/limit.ts'
import type { Mode } from '../stores/store.ts'
import { subjectKey } from './charging.ts'
import { isLayers, type Layers } from './layers.ts'
import type { Limiter, LoneLimitOptions, NamedLimits } from './limiter.ts'
import { NamedLimiter } from './named-limiter.ts'

export function createLimiter(policy: PolicyLike | Layers, options?: LoneLimitOptions<'sync'>): Limiter<string, 'sync'>
export function createLimiter<M extends Mode>(
  policy: PolicyLike | Layers,
  options: LoneLimitOptions<M>,
): Limiter<string, M>
export function createLimiter<S>(options: NamedLimits<S, 'sync'>): Limiter<S, 'sync'>
export function createLimiter<S>(options: NamedLimits<S, 'async'>): Limiter<S, 'async'>
export function createLimiter<S, M extends Mode>(options: NamedLimits<S, M>): Limiter<S, M>
export function createLimiter<S>(
  first: PolicyLike | Layers | NamedLimits<S>,
  second?: LoneLimitOptions,
): Limiter<string, Mode> | Limiter<S, Mode> {
  if (typeof first === 'object' && first !== null && !isLayers(first)) {
    if ('limits' in first) {
      if (second !== undefined) throw expected('SLUICE_BAD_OPTION', 'one object of options beside limits', second)
      return noticed(new NamedLimiter<S>(first, first.limits, false))
    }
    if (!('kind' in first)) {
      throw expected('SLUICE_BAD_POLICY', 'a policy, then options', first, "write createLimiter('100/m', { store })")
    }
  }
  const onOutage = second?.onOutage
  const own = onOutage === undefined ? {} : { onOutage }
  const limit = isLayers(first) ? { policy: first, key: subjectKey, ...own } : { policy: first, ...own }
  return noticed(new NamedLimiter<string>(second ?? {}, { default: limit }, true))
}

/** The limiter that counts in each space of a store. If several do, it is the one made last. */
const counting = new WeakMap<Space, WeakRef<{ readonly closed: boolean }>>()

/** Warns if another limiter counts in the same state, or if each worker of a cluster counts in its own memory. */
export function noticed<S>(limiter: NamedLimiter<S>): NamedLimiter<S> {
  if (limiter.mode === 'sync' && isClusterWorker()) limiter.warn('SLUICE_MEMORY_IN_CLUSTER', IN_CLUSTER)
  for (const { name, space } of limiter.limits) {
    const other = counting.get(space)?.deref()
    if (other !== undefined && other !== limiter && !other.closed) {
      const both = `two limiters named '${limiter.name}' count limit '${name}' in one store`
      limiter.warn('SLUICE_SAME_NAME', `${both}, so each takes from the other; give each its own name`)
    }
    counting.set(space, new WeakRef(limiter))
  }
  return limiter
}

const IN_CLUSTER = 'each worker of the cluster counts in its own memory and allows the whole limit; use redisStore()'

/** Asks Node's `cluster` module, because a worker removes the variable that marks it from its environment. */
function isClusterWorker(): boolean {
  const { process } = globalThis as {
    process?: { getBuiltinModule?(name: string): { isWorker?: boolean } | undefined }
  }
  return process?.getBuiltinModule?.('cluster')?.isWorker === true
}
