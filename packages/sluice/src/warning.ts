import { withCode } from './errors.ts'

/**
 * Things that are probably wrong. Each has a heading in docs/reference/errors.md; a test keeps both lists equal.
 */
export const WARNING_CODES = [
  'SLUICE_SMALL_SLIDING_WINDOW',
  'SLUICE_SAME_NAME',
  'SLUICE_UNTRUSTED_FORWARDING',
  'SLUICE_KEY_NEVER_FOUND',
  'SLUICE_FALLBACK',
  'SLUICE_NO_UNIT',
  'SLUICE_MANY_GUARDS',
  'SLUICE_MEMORY_IN_CLUSTER',
  'SLUICE_NO_OVERDRAW',
] as const

export type WarningCode = (typeof WARNING_CODES)[number]

/** A warning as `onEvent` gets it. */
export interface Warning {
  readonly type: 'warning'
  readonly code: WarningCode
  readonly message: string
}

type OnWarning = (warning: Warning) => void

/** Which texts were reported to which listener. When there are too many, later ones are dropped. */
const said = new WeakMap<object, Set<string>>()
const MOST_SAID = 100

/**
 * Warns once: calls `onWarning` if it is set, otherwise `process.emitWarning`. Without a `process`, as in a browser, it
 * does nothing.
 */
export function warnOnce(code: WarningCode, message: string, onWarning?: OnWarning): void {
  const host = globalThis as { process?: { emitWarning?(text: string, options: object): void } }
  const listener = onWarning ?? host
  const texts = said.get(listener) ?? new Set()
  if (texts.size >= MOST_SAID || texts.has(`${code} ${message}`)) return
  said.set(listener, texts.add(`${code} ${message}`))
  if (onWarning !== undefined) onWarning({ type: 'warning', code, message })
  else host.process?.emitWarning?.(withCode(code, message), { type: 'SluiceWarning', code })
}
