import { isAsyncFunction } from '../../errors.ts'
import { inTime, type LookupTime } from '../../lookup.ts'
import type { Maybe } from '../../maybe.ts'
import type { RequestFacts, RequestView } from '../request/request-facts.ts'

/** How a guard asks one function of its user, and what it does when that fails. */
export interface UserFunctionOptions<T> {
  readonly name: string
  readonly call: (view: RequestView) => unknown
  /** Reads an answer; throws if it means nothing. */
  readonly read: (answer: unknown) => T
  /** Takes the place of an answer if the function throws, answers nonsense, rejects, or is late. */
  readonly otherwise: (facts: RequestFacts, error: unknown) => T
  readonly time: LookupTime
}

/** A function of the user that may answer now or later. Whatever it does, the request gets an answer. */
export class UserFunction<T> {
  /** It is an async function, or has answered with a promise before: a look-up that a flood must not cause. */
  isAsync: boolean
  /** A request that is asked about twice makes one look-up. */
  private readonly asked = new WeakMap<RequestFacts, Promise<T>>()
  private readonly options: UserFunctionOptions<T>

  constructor(options: UserFunctionOptions<T>) {
    this.options = options
    this.isAsync = isAsyncFunction(options.call)
  }

  ask(facts: RequestFacts): Maybe<T> {
    const { name, call, read, otherwise, time } = this.options
    const asked = this.isAsync ? this.asked.get(facts) : undefined
    if (asked !== undefined) return asked
    try {
      const answer = inTime(call(facts.view), name, time)
      if (!(answer instanceof Promise)) return read(answer)
      this.isAsync = true
      const found = answer.then(read).catch(error => otherwise(facts, error))
      this.asked.set(facts, found)
      return found
    } catch (error) {
      return otherwise(facts, error)
    }
  }
}
