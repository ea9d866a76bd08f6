import type { Awaitable } from '../awaitable.ts'
import type { Decider } from '../decider/decider.ts'
import type { Right } from './authorizer.ts'
import type { HttpAnswer } from './http-answer.ts'

/** One call of the API, with everything that the OpenAPI document says about it. */
export interface ApiRoute {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly right: Extract<Right, 'check' | 'admin'>
  readonly summary: string
  /** The schemas of the request and of the response. A GET describes its query. */
  readonly body?: string
  readonly answers: Readonly<Record<number, string>>
  /** `text` is the body of a POST, the query of a GET. */
  answer(text: string, decider: Decider): Awaitable<HttpAnswer>
}
