import type { IncomingMessage } from 'node:http'
import { guardFrom } from './adapters/guard-from.ts'
import { guardNode, type Next, type NodeRequest, type NodeResponse, nodeReader } from './adapters/node-exchange.ts'
import type { Guard } from './guard/guard.ts'
import type { GuardOptions } from './guard/guard-options.ts'
import type { RequestView } from './request/request-facts.ts'

export type { GuardOptions } from './guard/guard-options.ts'
export { decisionOf } from './guard/outcome.ts'

/** What functions in the options receive. */
export type NodeView = RequestView<IncomingMessage>

/**
 * `const limit = rateLimit({ policy: '100/m' })`, then `limit(request, response, () => { … })` in a server of `http` or
 * `http2`. The callback gets the error if the guard fails.
 */
export function rateLimit(options: GuardOptions<NodeView> | Guard) {
  const guard = guardFrom(options)
  return function sluice(request: NodeRequest, response: NodeResponse, next: Next): void {
    guardNode(guard, nodeReader, request, response, next)
  }
}
