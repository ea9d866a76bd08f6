import { brand } from './brand.ts'

/**
 * Every way Sluice can be misused, and what to read about it. A test keeps these codes and the headings of
 * docs/reference/errors.md equal.
 */
export const ERROR_CODES = [
  'SLUICE_BAD_DURATION',
  'SLUICE_BAD_RATE',
  'SLUICE_BAD_LIMIT',
  'SLUICE_BAD_WINDOW',
  'SLUICE_BAD_BUCKETS',
  'SLUICE_BAD_ALIGN',
  'SLUICE_BAD_TIME_ZONE',
  'SLUICE_BAD_TTL',
  'SLUICE_BAD_POLICY',
  'SLUICE_BAD_OPTION',
  'SLUICE_BAD_COST',
  'SLUICE_BAD_KEY',
  'SLUICE_BAD_MODE',
  'SLUICE_BAD_BLOCK',
  'SLUICE_BAD_CLOCK',
  'SLUICE_UNKNOWN_LIMIT',
  'SLUICE_NOT_SUPPORTED',
  'SLUICE_CLOSED',
  'SLUICE_BAD_CLIENT',
  'SLUICE_STORE_TIMEOUT',
  'SLUICE_STORE_UNREACHABLE',
  'SLUICE_STORE_FAILED',
  'SLUICE_STORE_READONLY',
  'SLUICE_STORE_FULL',
  'SLUICE_SERVER_TOO_OLD',
  'SLUICE_SCRIPT_REFUSED',
  'SLUICE_FOREIGN_VALUE',
  'SLUICE_KEY_TOO_LONG',
  'SLUICE_BAD_RULES',
  'SLUICE_BAD_REQUEST',
  'SLUICE_LOOKUP_TIMEOUT',
  'SLUICE_WAIT_TOO_LONG',
  'SLUICE_THROTTLED',
  'SLUICE_BACKLOG_FULL',
] as const

export type ErrorCode = (typeof ERROR_CODES)[number]

/** Every message links to this page, which is in the package. */
export function withCode(code: string, message: string): string {
  return `${message} [${code}, see node_modules/sluice/errors.md#${code.toLowerCase()}]`
}

/** Misuse: thrown where it happens, before any state is touched. A refusal is never an error. */
export class SluiceError extends Error {
  override readonly name = 'SluiceError'
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string) {
    super(withCode(code, message))
    this.code = code
  }
}
brand('SluiceError', SluiceError)

/**
 * The store could not decide. This is not a refusal: the limiter answers by each limit's `onOutage`. Only calls without
 * such an answer (`reset`, `block`, `history`) reject with it.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, cause?: unknown) {
    super(withCode(code, message), cause === undefined ? undefined : { cause })
    this.code = code
  }
}
brand('StoreUnavailable', StoreUnavailable)

/** The form of every error: what was expected, what came, and (if it helps) what to do. */
export function expected(code: ErrorCode, what: string, got: unknown, advice = ''): SluiceError {
  return new SluiceError(code, `expected ${what}, got ${show(got)}${advice === '' ? '' : `; ${advice}`}`)
}

function show(value: unknown): string {
  if (typeof value === 'string') return value.length > 80 ? `'${value.slice(0, 77)}…'` : `'${value}'`
  if (typeof value === 'function') return isAsyncFunction(value) ? 'an async function' : 'a function'
  if (value instanceof Promise) return 'a promise'
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value !== 'object' || value === null) return String(value)
  if (Array.isArray(value)) return `an array of ${value.length}`
  return `an object with ${Object.keys(value).slice(0, 6).join(', ') || 'no properties'}`
}

export function isAsyncFunction(value: unknown): boolean {
  return Object.prototype.toString.call(value) === '[object AsyncFunction]'
}
