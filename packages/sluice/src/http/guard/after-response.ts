import type { Clock } from '../../clock.ts'
import type { Decision } from '../../decision.ts'
import type { Limiter } from '../../limiter/limiter.ts'
import { checkCost } from '../../limiter/limits.ts'
import type { Reservation } from '../../limiter/reservation.ts'
import { answered, yesOrNo } from '../../lookup.ts'
import { andThen, type Maybe } from '../../maybe.ts'
import type { RequestFacts } from '../request/request-facts.ts'
import { GONE } from '../response/refusal.ts'
import type { GuardLimit, ResponseEnd } from './guard-limit.ts'
import type { Reporter } from './reporter.ts'

export type GuardLimiter = Limiter<RequestFacts, 'sync' | 'async'>
export type GuardReservation = Reservation<'sync' | 'async'>

/** The cost that a guard reserves for limits without a cost of their own. */
export const SET_ASIDE = 1

/**
 * Acts when a response has ended: releases slots, settles reservations, and resets limits whose `resetWhen` is true.
 */
export class AfterResponse {
  private readonly limiter: GuardLimiter
  private readonly limits: readonly (readonly [string, GuardLimit])[]
  private readonly clock: Clock
  private readonly reporter: Reporter

  constructor(limiter: GuardLimiter, limits: Readonly<Record<string, GuardLimit>>, clock: Clock, reporter: Reporter) {
    this.limiter = limiter
    this.limits = Object.entries(limits)
    this.clock = clock
    this.reporter = reporter
  }

  /** Returns the function to call when the response has ended. A second call of it changes nothing. */
  after(decision: Decision, reservation: GuardReservation | undefined, facts: RequestFacts) {
    const startedAt = this.clock.now()
    let over = false
    return (status: number, bytes: number, aborted: boolean): void => {
      if (over) return
      over = true
      decision.release()
      if (reservation === undefined) return
      const settled = this.settle(reservation, facts, { status, bytes, aborted, ms: this.clock.now() - startedAt })
      if (settled instanceof Promise) settled.catch(error => this.reporter.fallback('', 'reset', 'nothing', error))
    }
  }

  private settle(reservation: GuardReservation, facts: RequestFacts, ended: ResponseEnd): Maybe<void> {
    const { limits } = reservation.decision
    const told = this.limits.filter(([name]) => limits.some(state => state.name === name))
    const actual: Record<string, number> = {}
    for (const [name, limit] of told) {
      const amount = this.actualOf(name, limit, ended, facts)
      if (amount !== undefined) actual[name] = amount
    }
    const forgiven = told.filter(([name, limit]) => this.forgives(name, limit, ended, facts))
    const settled = reservation.settle(Object.keys(actual).length > 0 ? actual : SET_ASIDE)
    if (forgiven.length === 0) return andThen(settled, nothing)
    return andThen(settled, () => this.limiter.reset(facts, { limits: forgiven.map(([name]) => name) })) as Maybe<void>
  }

  /** The final charge of a limit; undefined if the reserved cost stays. */
  private actualOf(name: string, limit: GuardLimit, ended: ResponseEnd, facts: RequestFacts): number | undefined {
    const { countWhen, settle, countAborted } = limit
    if (ended.aborted && countAborted === false) return 0
    // A request whose client left before the answer counts in any case: hanging up must not be free.
    const isUnanswered = ended.aborted && ended.status === GONE.status
    if (countWhen !== undefined) return this.counts(name, countWhen, ended, facts) || isUnanswered ? undefined : 0
    if (settle === 'bytes' && isUnanswered) return undefined
    if (settle === undefined) return undefined
    try {
      return checkCost(typeof settle === 'function' ? answered(settle(ended, facts.view)) : Math.ceil(ended[settle]))
    } catch (error) {
      this.reporter.fallback(name, 'settle', 'what was set aside', error)
      return undefined
    }
  }

  private counts(name: string, countWhen: After, ended: ResponseEnd, facts: RequestFacts): boolean {
    try {
      return yesOrNo('countWhen', countWhen(ended, facts.view))
    } catch (error) {
      this.reporter.fallback(name, 'countWhen', 'true', error)
      return true
    }
  }

  private forgives(name: string, { resetWhen }: GuardLimit, ended: ResponseEnd, facts: RequestFacts): boolean {
    try {
      return yesOrNo('resetWhen', resetWhen?.(ended, facts.view) ?? false)
    } catch (error) {
      this.reporter.fallback(name, 'resetWhen', 'false', error)
      return false
    }
  }
}

type After = NonNullable<GuardLimit['countWhen']>

function nothing(): void {}
