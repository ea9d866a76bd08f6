import type { Decision } from '../../decision.ts'
import type { Refusal } from '../response/refusal.ts'

/** What a guard says to a request that a limit touched; an adapter carries it out. */
export interface Outcome {
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

export const EXPOSE = 'Access-Control-Expose-Headers'

/** A field that another limiter may have set before: lists go on, all others are those of the limit asked last. */
export function joined(before: unknown, value: string): string {
  return typeof before === 'string' && before.startsWith('"') ? `${before}, ${value}` : value
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
