import { guardNode, type Next, type NodeRequest, type NodeResponse, nodeReader } from './exchange/node.ts'
import { type RoutedRequest, routeOf } from './express-routes.ts'
import type { Reader } from './facts.ts'
import type { Guard } from './guard.ts'
import { guardFrom } from './guard-from.ts'
import type { GuardOptions } from './guard-options.ts'

export type { GuardOptions } from './guard-options.ts'

/** An Express request; a Connect one has no `originalUrl` before something was mounted. */
export interface ExpressRequest extends NodeRequest, RoutedRequest {}

const reader: Reader<ExpressRequest, NodeResponse> = {
  ...nodeReader,
  target: targetOf,
  route: request => routeOf(request, targetOf(request)),
}

/** Inside a mounted router `url` is only what is left of it. */
function targetOf(request: ExpressRequest): string {
  return request.originalUrl ?? request.url ?? '/'
}

/** `app.use(rateLimit({ policy: '100/m' }))`, for Express and Connect. */
export function rateLimit(options: GuardOptions | Guard) {
  const guard = guardFrom(options)
  return function sluice(request: ExpressRequest, response: NodeResponse, next: Next): void {
    guardNode(guard, reader, request, response, next)
  }
}
