import { guardNode, type Next, type NodeRequest, type NodeResponse, nodeReader } from './exchange/node.ts'
import type { Guard } from './guard.ts'
import { guardFrom } from './guard-from.ts'
import type { GuardOptions } from './guard-options.ts'

export type { GuardOptions } from './guard-options.ts'

/**
 * `const limit = rateLimit({ policy: '100/m' })`, then `limit(request, response, () => { … })` in a server of `http` or
 * `http2`. What goes wrong on the way arrives as the argument of the callback.
 */
export function rateLimit(options: GuardOptions | Guard) {
  const guard = guardFrom(options)
  return function sluice(request: NodeRequest, response: NodeResponse, next: Next): void {
    guardNode(guard, nodeReader, request, response, next)
  }
}
