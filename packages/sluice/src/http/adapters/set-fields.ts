import { EXPOSE, exposed, inLowerCase, joined, type Outcome } from '../guard/outcome.ts'

/** The way in which Fastify, and Express under Nest, set headers. */
export interface HeaderResponse {
  header(name: string, value: string): unknown
  getHeader(name: string): unknown
}

/** Sets the fields of a decision and, if it refuses, those of the refusal. */
export function setFields({ guard, fields, expose, refusal }: Outcome, reply: HeaderResponse): void {
  for (let i = 0; i < fields.length; i += 2) {
    const name = inLowerCase(fields[i]!)
    reply.header(name, joined(reply.getHeader(name), fields[i + 1]!, guard))
  }
  if (expose !== undefined) reply.header(EXPOSE, exposed(reply.getHeader(EXPOSE), expose))
  if (refusal !== undefined) setAll(refusal.fields, reply)
}

function setAll(fields: readonly string[], reply: HeaderResponse): void {
  for (let i = 0; i < fields.length; i += 2) reply.header(fields[i]!, fields[i + 1]!)
}
