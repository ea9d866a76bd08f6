import type { OracleVerdict } from '../oracle/oracle.ts'

/** One fact about a store or an algorithm, for any test runner. `run` throws or rejects if the fact does not hold. */
export interface Case {
  readonly name: string
  /** Why this case is skipped for this store. */
  readonly skip?: string
  run(): void | Promise<void>
}

/** Fails unless both values are shown as the same text. `where` describes the call; it is used only in the error. */
export function same(got: unknown, expected: unknown, where: () => string): void {
  if (got !== expected && show(got) !== show(expected)) fail(where(), show(expected), show(got))
}

/** Fails unless `fact` is true. `expected` is the text for what should have been. */
export function holds(fact: boolean, expected: string, got: unknown, where: () => string): void {
  if (!fact) fail(where(), expected, show(got))
}

function fail(where: string, expected: string, got: string): never {
  throw new Error(`${where}: expected ${expected}, got ${got}`)
}

/** A value as JSON. Text stays as it is, because it may be JSON already; values that JSON lacks become text. */
export function show(value: unknown): string {
  if (value === undefined || typeof value === 'string') return String(value)
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'number' && !Number.isFinite(part) ? String(part) : typeof part === 'bigint' ? `${part}n` : part,
  )
}

/** Compares field by field, because a charge has more fields than its verdict. */
export function isSameVerdict(a: OracleVerdict, b: OracleVerdict): boolean {
  return a.allowed === b.allowed && a.remaining === b.remaining && a.resetAt === b.resetAt && a.retryAt === b.retryAt
}
