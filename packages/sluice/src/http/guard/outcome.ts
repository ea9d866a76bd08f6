import type { Decision } from '../../decision.ts'
import { parsedBody, type Refusal, VIOLATED } from '../response/refusal.ts'

/** What a guard says to a request that a limit touched; an adapter carries it out. */
export interface Outcome {
  /** The guard's name, as a field holds it; empty where it has none. */
  readonly guard: string
  /** Undefined where a list decided. */
  readonly decision: Decision | undefined
  /** To be set on the response, passed or refused: name, value, name, value … */
  readonly fields: readonly string[]
  /** The field names a page of another origin may read; undefined where no other origin asks. */
  readonly expose: string | undefined
  /** To be answered in place of the handler. */
  readonly refusal: Refusal | undefined
  /** To be called once when the response has ended; undefined where no limit wants to know. */
  readonly ended: ((status: number, bytes: number, aborted: boolean) => void) | undefined
  /** Whether `ended` is told the bytes of the body. */
  readonly measures: boolean
}

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

export const EXPOSE = 'Access-Control-Expose-Headers'

/**
 * The outcome as it goes on a response that may carry the fields of another guard. Lists go on, with unique names in them:
 * where a limit of this guard has a name that is taken, all of its limits get the guard's name in front, or a number where
 * it has none, and the body of a refusal names them so, too. All other fields are those of the guard asked last.
 * `sent` gives a field of the response as it is now.
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

/** The name of an item in a list of strings with parameters. */
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

/** A body that `refuse` has changed keeps whatever else it says. */
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
 * Servers look headers up by their names in lower case. One that comes so, and is the same text every time, is found with a
 * fifth of the instructions that one takes which is lowered for each response. The two of nearly every response come first.
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

/** Names are added to those that are there. */
export function exposed(before: unknown, names: string): string {
  const there = Array.isArray(before) ? before.join(', ') : before
  if (typeof there !== 'string' || there === '') return names
  const known = new Set(there.toLowerCase().split(/\s*,\s*/))
  const missing = names.split(', ').filter(name => !known.has(name.toLowerCase()))
  return [there, ...missing].join(', ')
}
