import type { Decision } from '../../decision.ts'
import { parsedBody, type Refusal, VIOLATED } from '../response/refusal.ts'

/** What an adapter must do with a request to which a limit or a list applied. */
export interface Outcome {
  /** The guard's name as it is written in a header field; empty if it has none. */
  readonly guard: string
  /** Undefined if no limit decided, for example if the address is on the `deny` list. */
  readonly decision: Decision | undefined
  /** The fields to set on the response, whether the request passes or not: name, value, name, value … */
  readonly fields: readonly string[]
  /** The fields that a page of another origin may read; undefined if the request has the same origin. */
  readonly expose: string | undefined
  /** The response to send instead of running the handler. */
  readonly refusal: Refusal | undefined
  /** The function to call when the response has ended; undefined if no limit needs it. */
  readonly ended: ((status: number, bytes: number, aborted: boolean) => void) | undefined
  /** Whether `ended` is told the bytes of the body. */
  readonly measures: boolean
}

/** The decision is a property of the request, so that both builds of the package (ESM and CommonJS) find it. */
const DECISION = Symbol.for('sluice.decision')

/**
 * The decision on a request, for its handler. In Koa and Hono, pass the context. If several guards decided, this is the
 * last decision. Undefined if no limit applied.
 */
export function decisionOf(request: object): Decision | undefined {
  return (request as { [DECISION]?: Decision })[DECISION]
}

export function keepDecision(request: unknown, decision: Decision): void {
  ;(request as { [DECISION]?: Decision })[DECISION] = decision
}

export const EXPOSE = 'Access-Control-Expose-Headers'

/**
 * Fits an outcome to a response that may already carry the fields of another guard. It appends to fields that are lists
 * and replaces all others. Names in a list must be unique. So if another guard has used one of the names, this prefixes
 * all names of the outcome's limits with the guard's name, or with a number if the guard has none. The body of a
 * refusal gets the same names. `sent` returns the present value of a field of the response.
 */
export function besideOthers(outcome: Outcome, sent: (field: string) => unknown): Outcome {
  let fields: string[] | undefined
  let prefix: string | undefined
  for (let i = 0; i < outcome.fields.length; i += 2) {
    const before = sent(outcome.fields[i]!)
    if (typeof before !== 'string' || !before.startsWith('"')) continue
    const list = outcome.fields[i + 1]!
    prefix ??= uniquePrefix(list, before, outcome.guard)
    fields ??= [...outcome.fields]
    fields[i + 1] = `${before}, ${list.replace(NAME, (_, start, name) => `${start}"${prefix}${name}"`)}`
  }
  if (fields === undefined) return outcome
  return { ...outcome, fields, refusal: renamed(outcome, prefix ?? '') }
}

/** Matches the name of each item in a list of strings with parameters. */
const NAME = /(^|, )"((?:[^"\\]|\\.)*)"/g

function namesIn(list: string): string[] {
  return [...list.matchAll(NAME)].map(([, , name]) => name!)
}

function uniquePrefix(list: string, before: string, guard: string): string {
  const names = namesIn(list)
  const taken = new Set(namesIn(before))
  let prefix = ''
  for (let n = 2; names.some(name => taken.has(prefix + name)); n++) {
    prefix = guard === '' ? `${n}:` : n === 2 ? `${guard}:` : `${guard} ${n - 1}:`
  }
  return prefix
}

/** Prefixes the names of limits in the body. If `refuse` has changed the body, its other properties stay. */
function renamed({ refusal, decision }: Outcome, prefix: string): Refusal | undefined {
  if (prefix === '' || refusal === undefined || decision === undefined) return refusal
  const body = parsedBody(refusal.body)
  if (typeof body === 'string') return refusal
  const violated: unknown = (body as Record<string, unknown>)[VIOLATED]
  if (!Array.isArray(violated)) return refusal
  const own = new Set<unknown>(decision.limits.map(({ name }) => name))
  const plain = prefix.replace(/\\(.)/g, '$1')
  const names = violated.map(name => (own.has(name) ? plain + name : name))
  return { ...refusal, body: JSON.stringify({ ...body, [VIOLATED]: names }) }
}

/**
 * A header name in lower case, always the same string object. Servers look headers up in lower case, and a lookup by
 * the same object takes a fifth of the instructions of one that lowers the name for each response. The two names that
 * nearly every response has are checked first.
 */
export function inLowerCase(name: string): string {
  if (name === 'RateLimit') return 'ratelimit'
  if (name === 'RateLimit-Policy') return 'ratelimit-policy'
  let lower = lowered.get(name)
  if (lower === undefined) {
    lower = name.toLowerCase()
    lowered.set(name, lower)
  }
  return lower
}

const lowered = new Map<string, string>()

/** The value of `Access-Control-Expose-Headers` with these names added to those in `before`. */
export function exposed(before: unknown, names: string): string {
  const there = Array.isArray(before) ? before.join(', ') : before
  if (typeof there !== 'string' || there === '') return names
  const known = new Set(there.toLowerCase().split(/\s*,\s*/))
  const missing = names.split(', ').filter(name => !known.has(name.toLowerCase()))
  return [there, ...missing].join(', ')
}
