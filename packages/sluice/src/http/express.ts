import type { Request } from 'express'
import { type RoutedRequest, routeOf } from './adapters/express-routes.ts'
import { guardFrom } from './adapters/guard-from.ts'
import { guardNode, type Next, type NodeRequest, type NodeResponse, nodeReader } from './adapters/node-exchange.ts'
import { ownTrust } from './adapters/own-trust.ts'
import type { Guard } from './guard/guard.ts'
import type { GuardOptions } from './guard/guard-options.ts'
import type { Reader, RequestView } from './request/request-facts.ts'

export type { GuardOptions } from './guard/guard-options.ts'
export { decisionOf } from './guard/outcome.ts'

/** An Express request; a Connect one has no `originalUrl` before something was mounted. */
export interface ExpressRequest extends NodeRequest, RoutedRequest {
  readonly originalUrl?: string
  readonly app?: { get(setting: string): unknown }
}

const reader: Reader<ExpressRequest, NodeResponse> = {
  ...nodeReader,
  // Inside a mounted router `url` lacks the prefix.
  target: request => request.originalUrl ?? request.url ?? '/',
  route: routeOf,
  ownTrust: ({ app }) => ownTrust("Express' trust proxy", app?.get('trust proxy')),
}

/** What functions in the options receive. It keeps the type of Express' `header`, which returns a list for `set-cookie`. */
export type ExpressView = RequestView<Request> & Pick<Request, 'header'>

/** `app.use(rateLimit({ policy: '100/m' }))`, for Express and Connect. */
export function rateLimit(options: GuardOptions<ExpressView> | Guard) {
  const guard = guardFrom(options)
  return function sluice(request: ExpressRequest, response: NodeResponse, next: Next): void {
    guardNode(guard, reader, request, response, next)
  }
}
