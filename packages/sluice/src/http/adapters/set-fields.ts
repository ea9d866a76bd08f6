import { besideOthers, EXPOSE, exposed, inLowerCase, type Outcome } from '../guard/outcome.ts'
import type { Refusal } from '../response/refusal.ts'

/** How Fastify, and Express under Nest, set headers. */
export interface HeaderResponse {
  header(name: string, value: string): unknown
  getHeader(name: string): unknown
}

/** Sets the fields of a decision and, if it refuses, those of the refusal. Returns the refusal as the response tells it. */
export function setFields(outcome: Outcome, reply: HeaderResponse): Refusal | undefined {
  const { fields, expose, refusal } = besideOthers(outcome, name => reply.getHeader(inLowerCase(name)))
  for (let i = 0; i < fields.length; i += 2) reply.header(inLowerCase(fields[i]!), fields[i + 1]!)
  if (expose !== undefined) reply.header(EXPOSE, exposed(reply.getHeader(EXPOSE), expose))
  if (refusal !== undefined) setAll(refusal.fields, reply)
  return refusal
}

function setAll(fields: readonly string[], reply: HeaderResponse): void {
  for (let i = 0; i < fields.length; i += 2) reply.header(fields[i]!, fields[i + 1]!)
}
