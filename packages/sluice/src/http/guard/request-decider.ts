import type { Decision } from '../../decision.ts'
import type { NamedLimiter } from '../../limiter/named-limiter.ts'
import { andThen, type Maybe } from '../../maybe.ts'
import type { RequestFacts } from '../request/request-facts.ts'
import { type GuardReservation, SET_ASIDE } from './after-response.ts'
import { LONGEST_RESPONSE } from './guard-limit.ts'
import type { UserFunction } from './user-function.ts'

/** Handles a decision, and its reservation if there is one. */
type GoOn<T> = (decision: Decision, reservation: GuardReservation | undefined) => Maybe<T>

/** Makes the one decision on a request: skips it, consumes from its limits or reserves in them. */
export class RequestDecider {
  private readonly limiter: NamedLimiter<RequestFacts>
  private readonly skip: UserFunction<boolean> | undefined
  /** Whether to reserve, because some costs are known only when the response has ended. */
  private readonly reserves: boolean

  constructor(limiter: NamedLimiter<RequestFacts>, skip: UserFunction<boolean> | undefined, reserves: boolean) {
    this.limiter = limiter
    this.skip = skip
    this.reserves = reserves
  }

  /** Undefined if the request is skipped. */
  decide<T>(facts: RequestFacts, goOn: GoOn<T>): Maybe<T | undefined> {
    const { skip, limiter } = this
    if (skip === undefined) return this.charge(facts, goOn)
    const refused = skip.isAsync ? limiter.refusedAtOnce(facts) : undefined
    return andThen(refused, decision => {
      if (decision !== undefined) return goOn(decision, undefined)
      return andThen(skips(skip, facts), skipped => (skipped ? undefined : this.charge(facts, goOn)))
    })
  }

  /** Whether `skip` skips a preflight. An async `skip` is not asked, because a preflight must cause no look-up. */
  skipsAtOnce(facts: RequestFacts): boolean {
    const { skip } = this
    return skip !== undefined && !skip.isAsync && skips(skip, facts) === true
  }

  private charge<T>(facts: RequestFacts, goOn: GoOn<T>): Maybe<T> {
    const { limiter } = this
    if (this.reserves) {
      const reservation: Maybe<GuardReservation> = limiter.reserve(facts, { cost: SET_ASIDE, ttl: LONGEST_RESPONSE })
      return andThen(reservation, held => goOn(held.decision, held))
    }
    const decision: Maybe<Decision> = limiter.consume(facts)
    return andThen(decision, made => goOn(made, undefined))
  }
}

/** If servers read the path in several ways, the request is skipped only if `skip` returns true for every reading. */
function skips(skip: UserFunction<boolean>, facts: RequestFacts): Maybe<boolean> {
  const asked = [facts, ...facts.elsewhere].map(at => skip.ask(at))
  if (!asked.some(one => one instanceof Promise)) return asked.every(Boolean)
  return Promise.all(asked).then(answers => answers.every(Boolean))
}
