import { after, type Clock } from '../../clock.ts'
import { expected, isAsyncFunction } from '../../errors.ts'
import type { Maybe } from '../../maybe.ts'
import type { RequestFacts, RequestView } from '../request/request-facts.ts'

/** How a guard asks one function of its user, and what it does when that fails. */
export interface UserFunctionOptions<T> {
  readonly call: (view: RequestView) => unknown
  /** Reads an answer; throws if it means nothing. */
  readonly read: (answer: unknown) => T
  /** Takes the place of an answer if the function throws, answers nonsense, rejects, or is late. */
  readonly otherwise: (facts: RequestFacts, error: unknown) => T
  readonly clock: Clock
  readonly deadlineMs: number
}

/** A function of the user that may answer now or later. Whatever it does, the request gets an answer. */
export class UserFunction<T> {
  /** It is an async function, or has answered with a promise before: a look-up that a flood must not cause. */
  isAsync: boolean
  private readonly options: UserFunctionOptions<T>

  constructor(options: UserFunctionOptions<T>) {
    this.options = options
    this.isAsync = isAsyncFunction(options.call)
  }

  ask(facts: RequestFacts): Maybe<T> {
    const { call, read, otherwise } = this.options
    try {
      const answer = call(facts.view)
      if (!isThenable(answer)) return read(answer)
      this.isAsync = true
      return this.inTime(answer)
        .then(read)
        .catch(error => otherwise(facts, error))
    } catch (error) {
      return otherwise(facts, error)
    }
  }

  private inTime(answer: PromiseLike<unknown>): Promise<unknown> {
    const { clock, deadlineMs } = this.options
    return new Promise((resolve, reject) => {
      const cancel = after(clock, deadlineMs, () => reject(new Error(`no answer within ${deadlineMs} ms`)))
      answer.then(
        value => {
          cancel()
          resolve(value)
        },
        error => {
          cancel()
          reject(error)
        },
      )
    })
  }
}

/** Query builders are no promises, but can be awaited. */
function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}

/** The answer of a user's function that must not be async. A promise is refused later; if it rejects, the process goes on. */
export function answered<T>(answer: T): T {
  if (answer instanceof Promise) answer.catch(() => {})
  return answer
}

/** The same where only true and false mean something. */
export function yesOrNo(what: string, answer: unknown): boolean {
  if (typeof answer === 'boolean') return answer
  throw expected('SLUICE_BAD_OPTION', `${what} to answer true or false`, answered(answer))
}
