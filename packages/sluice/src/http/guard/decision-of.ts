import type { Decision } from '../../decision.ts'

/** Kept on the request itself: both builds of the package find it there. */
const DECISION = Symbol.for('sluice.decision')

/**
 * What was decided on a request (in Koa and Hono, on its context), for the handler that serves it: the last decision, if
 * several guards were asked; undefined if no limit applied.
 */
export function decisionOf(request: object): Decision | undefined {
  return (request as { [DECISION]?: Decision })[DECISION]
}

export function keepDecision(request: unknown, decision: Decision): void {
  ;(request as { [DECISION]?: Decision })[DECISION] = decision
}
