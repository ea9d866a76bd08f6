/// <reference lib="esnext.disposable" preserve="true" />

/** Why a request was decided as it was; `'denied'` and `'exempt'` come from the lists of the service's rules. */
export type Reason =
  | 'ok'
  | 'limited'
  | 'cost-exceeds-limit'
  | 'blocked'
  | 'too-many-holds'
  | 'outage'
  | 'denied'
  | 'exempt'

/** How a decision was made without its store; `false` if the store decided. */
export type Degraded = false | 'open' | 'local' | 'closed'

/** One limit's part in a decision. */
export interface LimitState {
  readonly name: string
  readonly allowed: boolean
  readonly limit: number
  readonly remaining: number
  readonly resetAt: number
  readonly resetAfterMs: number
  readonly retryAfterMs: number
  /** The limit is decided but not enforced. */
  readonly shadow: boolean
  /** The decision comes from a cache: the store was not asked. */
  readonly cached: boolean
}

/**
 * The one answer to a request. A refusal is a value, never a throw. Times are epoch milliseconds of the store's clock.
 */
export interface Decision extends Disposable {
  readonly allowed: boolean
  readonly reason: Reason
  /** The binding limit: the one that refused (with several, the one that frees last), or the one nearest to refusing. */
  readonly policy: string
  readonly limit: number
  /** Exact: this cost passes now, one more does not. */
  readonly remaining: number
  readonly at: number
  /** When the binding limit is full again. */
  readonly resetAt: number
  readonly resetAfterMs: number
  /**
   * 0 if allowed. Otherwise how long until the same cost passes, if no other request consumes; `Infinity` if it never
   * can.
   */
  readonly retryAfterMs: number
  readonly degraded: Degraded
  /** One state for each limit that applied, in declared order. Built when read. */
  readonly limits: readonly LimitState[]
  /** Gives back the slots of concurrency limits, once. Without slots it does nothing. */
  release(): void
  toJSON(): DecisionJson
}

/** A decision as observers see it. The extra fields are not printed and not in its JSON. */
export interface ObservedDecision extends Decision {
  /** The key of each entry of `limits`, as its limit's `key` made it. */
  readonly keys: readonly string[]
  /** The names of limits that were off for the subject. */
  readonly off: readonly string[]
}

/** A decision as JSON: `Infinity` becomes `null`. */
export interface DecisionJson {
  readonly allowed: boolean
  readonly reason: Reason
  readonly policy: string
  readonly limit: number | null
  readonly remaining: number | null
  readonly at: number
  readonly resetAt: number
  readonly resetAfterMs: number
  readonly retryAfterMs: number | null
  readonly degraded: Degraded
  readonly limits: readonly (Omit<LimitState, 'retryAfterMs'> & { readonly retryAfterMs: number | null })[]
}
