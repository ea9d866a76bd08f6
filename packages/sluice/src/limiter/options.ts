import { checkFunction, checkOptions, checkSyncFunction } from '../check-options.ts'
import { expected } from '../errors.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { Mode, Store } from '../stores/store.ts'
import type { LimiterOptions } from './limiter.ts'
import { checkStore, type LimitsByName } from './limits.ts'

const KNOWN = ['name', 'prefix', 'store', 'clock', 'onDecision', 'observers', 'onEvent', 'lookupDeadline']

/** Checks a limiter's options and refuses unknown names: a typing error must not mean "unlimited". */
export function checkLimiterOptions<S>(
  options: LimiterOptions<S>,
  limits: LimitsByName<S, Mode>,
  shortForm: boolean,
): void {
  checkOptions('a limiter', options, [...KNOWN, ...(shortForm ? ['onOutage'] : ['limits', 'select'])])
  const { name = '', prefix = '', onDecision, onEvent, store, clock } = options
  const { select } = options as { select?: unknown }
  if (typeof name !== 'string') throw expected('SLUICE_BAD_OPTION', 'name as a string', name)
  if (typeof prefix !== 'string') throw expected('SLUICE_BAD_OPTION', 'prefix as a string', prefix)
  if (select !== undefined) checkSyncFunction('select', select)
  for (const [hook, value] of Object.entries({ onDecision, onEvent })) {
    if (value !== undefined) checkFunction(hook, value)
  }
  const { observers = [] } = options
  if (!Array.isArray(observers) || observers.some(observer => typeof observer !== 'function')) {
    throw expected('SLUICE_BAD_OPTION', 'observers as a list of functions', observers)
  }
  if (clock !== undefined && typeof clock?.now !== 'function') {
    throw expected('SLUICE_BAD_CLOCK', 'a clock with now()', clock)
  }
  if (store !== undefined) checkStore(store, 'a store')
  if (typeof limits !== 'object' || limits === null || Array.isArray(limits) || Object.keys(limits).length === 0) {
    throw expected('SLUICE_BAD_OPTION', 'limits by name, at least one', limits, 'write { user: { … } }')
  }
}

/** The store passed in, or a new one for this limiter. */
export function storeFor<S>({ store, clock, onEvent }: LimiterOptions<S>, limiter: string): Store {
  if (store !== undefined) return store
  return memoryStore({
    ...(clock && { clock }),
    ...(onEvent && {
      onOverflow: ({ keys }) => onEvent({ type: 'overflow', limiter, keys }),
      onClockSetBack: byMs => onEvent({ type: 'clock-set-back', limiter, byMs }),
    }),
  })
}
