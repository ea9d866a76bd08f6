import type { Clock } from '../../clock.ts'
import type { Decision, LimitState } from '../../decision.ts'
import { ChargedDecision } from '../../limiter/charged-decision.ts'
import { andThen, type Maybe } from '../../maybe.ts'
import { policyOf } from '../../policy.ts'
import type { Reader, RequestFacts } from '../request/request-facts.ts'
import { changed } from '../response/changed-refusal.ts'
import { quoted } from '../response/headers/structured.ts'
import { headerFamilies } from '../response/headers.ts'
import { GONE, type Refusal, refusalOf } from '../response/refusal.ts'
import { ResponseFields } from '../response/response-fields.ts'
import { AfterResponse, type GuardLimiter, type GuardReservation } from './after-response.ts'
import { inTurn } from './delay.ts'
import type { GuardLimit } from './guard-limit.ts'
import type { GuardSettings } from './guard-options.ts'
import { keepDecision, type Outcome } from './outcome.ts'
import type { Reporter } from './reporter.ts'

export interface ResponderOptions {
  readonly settings: GuardSettings
  readonly limits: Readonly<Record<string, GuardLimit>>
  readonly limiter: GuardLimiter
  readonly clock: Clock
  readonly reporter: Reporter
  /** Whether the guard reserves, because some costs are known only when the response has ended. */
  readonly reserves: boolean
  /** The opaque id by which callers know a bucket. */
  readonly bucketId: (bucket: readonly string[]) => string
}

/**
 * Turns a decision into an outcome: the fields, the refusal, the delay, and the function to call after the response.
 */
export class Responder {
  private readonly options: ResponderOptions
  /** The guard's name as it is written in a header field; empty if it has none. */
  private readonly fieldName: string
  private readonly fields: ResponseFields
  private readonly afterResponse: AfterResponse
  /** Whether a limit may have a slot to release or a reservation to settle when the response has ended. */
  private readonly follows: boolean

  constructor(options: ResponderOptions) {
    this.options = options
    const { settings, limits, limiter, clock, reporter, reserves, bucketId } = options
    this.fieldName = settings.name === undefined ? '' : quoted(settings.name).slice(1, -1)
    this.fields = new ResponseFields(limits, headerFamilies(settings.headers), bucketId, settings.partitionSecret)
    this.afterResponse = new AfterResponse(limiter, limits, clock, reporter)
    this.follows = reserves || Object.values(limits).some(mayHoldSlots)
  }

  /** Undefined if no limit applied. */
  answer<Reply>(
    decision: Decision,
    reservation: GuardReservation | undefined,
    facts: RequestFacts,
    reply: Reply,
    reader: Reader<never, Reply>,
  ): Maybe<Outcome | undefined> {
    if (!(decision instanceof ChargedDecision) || decision.charges.length === 0) return undefined
    keepDecision(facts.raw, decision)
    if (!this.fields.wantsLook(decision, facts))
      return this.tell(decision, undefined, reservation, facts, reply, reader)
    const look: Maybe<Decision> = this.options.limiter.peek(facts)
    return andThen(look, seen => this.tell(decision, seen, reservation, facts, reply, reader))
  }

  /** A preflight that passes is answered as if there were no guard. */
  answerPreflight(decision: Decision, facts: RequestFacts): Outcome | undefined {
    if (decision.allowed) return undefined
    return { ...this.refusedBy(this.refusal(decision, decision.limits, facts)), expose: this.fields.exposed }
  }

  /** The outcome of a refusal that no limit decided. */
  refusedBy(refusal: Refusal): Outcome {
    const nothing = { decision: undefined, fields: [], expose: undefined, ended: undefined, measures: false }
    return { guard: this.fieldName, refusal, ...nothing }
  }

  private tell<Reply>(
    decision: ChargedDecision,
    look: Decision | undefined,
    reservation: GuardReservation | undefined,
    facts: RequestFacts,
    reply: Reply,
    reader: Reader<never, Reply>,
  ): Maybe<Outcome | undefined> {
    const { fields } = this
    const { clock, reserves } = this.options
    const states = fields.told(decision, look)
    const outcome: Outcome = {
      guard: this.fieldName,
      decision,
      fields: fields.fields(decision, states, facts),
      expose: facts.isCrossOrigin ? fields.exposed : undefined,
      refusal: decision.allowed ? undefined : this.refusal(decision, states, facts),
      ended: this.follows && decision.allowed ? this.afterResponse.after(decision, reservation, facts) : undefined,
      measures: reserves,
    }
    const delayMs = decision.allowed ? fields.delayMs(decision, facts) : 0
    if (delayMs === 0) return outcome
    return inTurn(clock, delayMs, callback => reader.onClose(reply, callback)).then(here => {
      if (here) return outcome
      this.giveBack(decision, reservation)
      return this.refusedBy(GONE)
    })
  }

  private refusal(decision: Decision, states: readonly LimitState[], facts: RequestFacts): Refusal {
    const { settings, reporter } = this.options
    const { refuse, retryAfterJitter = 0 } = settings
    const rules = {
      isShared: (name: string) => this.fields.isShared(name),
      statusOf: (name: string) => this.fields.statusOf(name),
      retryAfterJitter,
    }
    const refusal = refusalOf(decision, states, rules, this.fields.isQuiet(states))
    if (refuse === undefined) return refusal
    try {
      return changed(refusal, parts => refuse(parts, decision, facts.view))
    } catch (error) {
      reporter.fallback('', 'refuse', 'the usual refusal', error)
      return refusal
    }
  }

  /** Gives back what a request took if its client left while the request was delayed. */
  private giveBack(decision: Decision, reservation: GuardReservation | undefined): void {
    const { limiter, reporter } = this.options
    decision.release()
    const given = reservation === undefined ? limiter.refund(decision) : reservation.cancel()
    if (given instanceof Promise) given.catch(error => reporter.fallback('', 'delay', 'the slot as taken', error))
  }
}

/** True for a function, because the policy that it chooses is known only for a request. */
function mayHoldSlots({ policy }: GuardLimit): boolean {
  return typeof policy === 'function' || policyOf(policy).kind === 'concurrency'
}
