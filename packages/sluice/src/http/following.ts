import type { Clock } from '../clock.ts'
import type { Decision } from '../decision.ts'
import type { Limiter } from '../limiter/limiter.ts'
import { checkCost } from '../limiter/limits.ts'
import { andThen, type Maybe } from '../limiter/maybe.ts'
import type { Reservation } from '../limiter/reservation.ts'
import type { Ended } from './ended.ts'
import type { Facts } from './facts.ts'
import type { TellFallback } from './guard-event.ts'
import type { GuardLimit } from './guard-limit.ts'

export type AnyLimiter = Limiter<Facts, 'sync' | 'async'>
export type AnyReservation = Reservation<'sync' | 'async'>

/** What a guard sets aside for limits without a cost of their own. */
export const SET_ASIDE = 1

/** What follows when the response has ended: slots go back, what was set aside is settled, what succeeded is forgiven. */
export class Following {
  private readonly limiter: AnyLimiter
  private readonly limits: readonly (readonly [string, GuardLimit])[]
  private readonly clock: Clock
  private readonly tell: TellFallback

  constructor(limiter: AnyLimiter, limits: Readonly<Record<string, GuardLimit>>, clock: Clock, tell: TellFallback) {
    this.limiter = limiter
    this.limits = Object.entries(limits)
    this.clock = clock
    this.tell = tell
  }

  /** To be called when the response ends; a second call changes nothing. */
  after(decision: Decision, reservation: AnyReservation | undefined, facts: Facts) {
    const startedAt = this.clock.now()
    let over = false
    return (status: number, bytes: number, aborted: boolean): void => {
      if (over) return
      over = true
      decision.release()
      if (reservation === undefined) return
      const settled = this.settle(reservation, facts, { status, bytes, aborted, ms: this.clock.now() - startedAt })
      if (settled instanceof Promise) settled.catch(error => this.tell('', 'reset', 'nothing', error))
    }
  }

  private settle(reservation: AnyReservation, facts: Facts, ended: Ended): Maybe<void> {
    const { limits } = reservation.decision
    const applied = this.limits.filter(([name]) => limits.some(state => state.name === name))
    const actual: Record<string, number> = {}
    for (const [name, limit] of applied) {
      const amount = ended.aborted ? undefined : this.actualOf(name, limit, ended, facts)
      if (amount !== undefined) actual[name] = amount
    }
    const forgiven = applied.filter(([name, { resetWhen }]) => this.says(name, 'resetWhen', resetWhen, ended, facts))
    const settled = reservation.settle(Object.keys(actual).length > 0 ? actual : SET_ASIDE)
    if (forgiven.length === 0) return andThen(settled, nothing)
    return andThen(settled, () => this.limiter.reset(facts, { limits: forgiven.map(([name]) => name) })) as Maybe<void>
  }

  /** What a limit is charged in the end; undefined where what was set aside stands. */
  private actualOf(name: string, limit: GuardLimit, ended: Ended, facts: Facts): number | undefined {
    const { countWhen, settle } = limit
    if (countWhen !== undefined) return this.says(name, 'countWhen', countWhen, ended, facts) ? undefined : 0
    if (settle === undefined) return undefined
    try {
      return checkCost(typeof settle === 'function' ? settle(ended, facts.seen) : Math.ceil(ended[settle]))
    } catch (error) {
      this.tell(name, 'settle', 'what was set aside', error)
      return undefined
    }
  }

  /** A test that throws counts the response, and forgives nothing. */
  private says(
    name: string,
    option: 'countWhen' | 'resetWhen',
    test: GuardLimit['countWhen'],
    ended: Ended,
    facts: Facts,
  ): boolean {
    if (test === undefined) return false
    try {
      return test(ended, facts.seen) === true
    } catch (error) {
      const counts = option === 'countWhen'
      this.tell(name, option, String(counts), error)
      return counts
    }
  }
}

function nothing(): void {}
