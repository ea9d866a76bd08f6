import type { Decision } from '../../decision.ts'
import { andThen, type Maybe } from '../../maybe.ts'
import type { RequestFacts } from '../request/request-facts.ts'
import { type GuardLimiter, type GuardReservation, SET_ASIDE } from './after-response.ts'
import { LONGEST_RESPONSE } from './guard-limit.ts'
import type { Reporter } from './reporter.ts'
import type { SafeLimit } from './safe-limit.ts'
import type { UserFunction } from './user-function.ts'

export interface RequestDeciderOptions {
  readonly limiter: GuardLimiter
  readonly limits: readonly SafeLimit[]
  readonly skip: UserFunction<boolean> | undefined
  /** A limit that is switched off: its functions are not asked. */
  readonly isOff: (limit: string) => boolean
  /** A limit whose state is kept elsewhere. */
  readonly isRemote: (limit: SafeLimit) => boolean
  /** Some costs are only known when the response has ended. */
  readonly reserves: boolean
  readonly reporter: Reporter
}

/** Goes on with a decision, and with its reservation if there is one. */
type GoOn<T> = (decision: Decision, reservation: GuardReservation | undefined) => Maybe<T>

/** Finishes what is asked for a request; true if no limit concerns it. */
type FinishLookups = () => Promise<boolean>

/**
 * From a request to its one decision. The user's functions are asked before the limiter needs their answers. Those that
 * answer at once come first. The others may look into a database, so they are asked once the request has passed the limits
 * that need neither them nor a store elsewhere.
 */
export class RequestDecider {
  private readonly options: RequestDeciderOptions
  /** The limits with functions of the user. */
  private readonly asking: readonly SafeLimit[]
  private readonly asksNothing: boolean

  constructor(options: RequestDeciderOptions) {
    this.options = options
    this.asking = options.limits.filter(limit => limit.hasFunctions)
    this.asksNothing = options.skip === undefined && this.asking.length === 0
  }

  /** Undefined if the request is skipped. */
  decide<T>(facts: RequestFacts, goOn: GoOn<T>): Maybe<T | undefined> {
    const begun = this.asksNothing ? false : this.begin(facts)
    if (begun === true) return undefined
    return begun === false ? this.charge(facts, goOn) : this.decideLater(begun, facts, goOn)
  }

  /** For a preflight, which no look-up is made for. */
  skipsAtOnce(facts: RequestFacts): boolean {
    const { skip } = this.options
    return skip !== undefined && !skip.isAsync && skips(skip, facts) === true
  }

  /** True: the request is skipped. False: all is known. Else there are answers to wait for. */
  private begin(facts: RequestFacts): boolean | FinishLookups {
    const { skip, isOff } = this.options
    const isSkipLate = skip?.isAsync === true
    const skipped = skip === undefined || isSkipLate ? false : skips(skip, facts)
    if (skipped === true) return true
    const late: SafeLimit[] = []
    const pending: Promise<void>[] = []
    for (const limit of this.asking) {
      if (isOff(limit.name)) continue
      if (limit.isAsync) late.push(limit)
      else {
        const prepared = limit.prepare(facts)
        if (prepared instanceof Promise) pending.push(prepared)
      }
    }
    if (skipped === false && !isSkipLate && late.length === 0 && pending.length === 0) return false
    return async () => {
      if ((await skipped) || (isSkipLate && (await skips(skip!, facts)))) return true
      await Promise.all(pending)
      await Promise.all(late.map(limit => limit.prepare(facts)))
      return false
    }
  }

  private charge<T>(facts: RequestFacts, goOn: GoOn<T>): Maybe<T> {
    const { limiter, reserves } = this.options
    if (reserves) {
      const reservation: Maybe<GuardReservation> = limiter.reserve(facts, { cost: SET_ASIDE, ttl: LONGEST_RESPONSE })
      return andThen(reservation, held => goOn(held.decision, held))
    }
    const decision: Maybe<Decision> = limiter.consume(facts)
    return andThen(decision, made => goOn(made, undefined))
  }

  private async decideLater<T>(finish: FinishLookups, facts: RequestFacts, goOn: GoOn<T>): Promise<T | undefined> {
    const refused = await this.refusedEarly(facts)
    if (refused !== undefined) return goOn(refused, undefined)
    return (await finish()) ? undefined : this.charge(facts, goOn)
  }

  /** The decision of the limits that need no look-up and no store elsewhere, if they refuse: a flood causes no look-ups. */
  private async refusedEarly(facts: RequestFacts): Promise<Decision | undefined> {
    const { limiter, limits, isRemote, reporter } = this.options
    const late = limits.filter(limit => limit.isAsync || isRemote(limit))
    if (late.length === limits.length) return undefined
    const putBack = late.map(limit => limit.leaveOut(facts))
    try {
      const look = reporter.quietly(() => limiter.peek(facts))
      if ((await look).allowed) return undefined
      const decision = await limiter.consume(facts)
      if (!decision.allowed) return decision
      await limiter.refund(decision)
      return undefined
    } finally {
      for (const put of putBack) put()
    }
  }
}

/** A path that servers read in several ways is skipped only if it is in each of them. */
function skips(skip: UserFunction<boolean>, facts: RequestFacts): Maybe<boolean> {
  const asked = [facts, ...facts.elsewhere].map(at => skip.ask(at))
  if (!asked.some(one => one instanceof Promise)) return asked.every(Boolean)
  return Promise.all(asked).then(answers => answers.every(Boolean))
}
