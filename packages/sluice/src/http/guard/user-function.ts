import { isAsyncFunction } from '../../errors.ts'
import { inTime, type LookupTime } from '../../lookup.ts'
import type { Maybe } from '../../maybe.ts'
import type { RequestFacts, RequestView } from '../request/request-facts.ts'

/** How a guard calls one function of its user, and what it uses if the function fails. */
export interface UserFunctionOptions<T> {
  readonly name: string
  readonly call: (view: RequestView) => unknown
  /** Checks and converts an answer. Throws if it is invalid. */
  readonly read: (answer: unknown) => T
  /** Returns the fallback if the function throws, rejects, is late or returns an invalid value. */
  readonly otherwise: (facts: RequestFacts, error: unknown) => T
  readonly time: LookupTime
}

/** A function of the user that may return a promise. If it fails, the caller gets a fallback. */
export class UserFunction<T> {
  /** It is an async function or has returned a promise before, so a call may be a look-up, such as in a database. */
  isAsync: boolean
  /** The answers by request, so that a request makes one look-up even if the function is needed twice. */
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
