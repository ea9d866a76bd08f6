import type { LimiterEvent } from '../../limiter/limiter.ts'

/** What a guard tells besides its decisions. */
export type GuardEvent =
  | LimiterEvent
  /** A function of the user threw or answered nonsense for a request, and what was used in its place. */
  | {
      readonly type: 'fallback'
      readonly limiter: string
      /** The limit it belongs to; '' where it belongs to the guard. */
      readonly limit: string
      readonly option: string
      readonly used: string
      readonly error: unknown
    }
  /** A plan that is not in the table: the strictest was used. */
  | { readonly type: 'unknown-plan'; readonly limiter: string; readonly limit: string; readonly plan: string }
