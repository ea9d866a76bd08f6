import type { Decider, Maybe } from '../decider/decider.ts'
import type { Answer } from './exchange.ts'
import type { Right } from './gate.ts'

/** One call of the API, with all that the OpenAPI document says of it. */
export interface Route {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly right: Extract<Right, 'check' | 'admin'>
  readonly summary: string
  /** The schemas of what comes and of what is answered; a GET has its query. */
  readonly body?: string
  readonly answers: Readonly<Record<number, string>>
  /** `text` is the body of a POST, the query of a GET. */
  answer(text: string, decider: Decider): Maybe<Answer>
}

export function andThen<T, U>(value: Maybe<T>, next: (value: T) => U): Maybe<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}
