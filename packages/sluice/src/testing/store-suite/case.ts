import type { OracleVerdict } from '../oracle/oracle.ts'

/** One fact about a store or an algorithm, for any test runner: `run` throws, or rejects, where it does not hold. */
export interface Case {
  readonly name: string
  /** Why this one is not to be run here. */
  readonly skip?: string
  run(): void | Promise<void>
}

/** Fails unless both show the same. `where` says what was asked; it is only called to complain. */
export function same(got: unknown, expected: unknown, where: () => string): void {
  if (got !== expected && show(got) !== show(expected)) fail(where(), show(expected), show(got))
}

/** Fails unless it holds; `expected` says what should have been. */
export function holds(fact: boolean, expected: string, got: unknown, where: () => string): void {
  if (!fact) fail(where(), expected, show(got))
}

function fail(where: string, expected: string, got: string): never {
  throw new Error(`${where}: expected ${expected}, got ${got}`)
}

/** JSON, but for what it does not know, and for text, which may be JSON already. */
export function show(value: unknown): string {
  if (value === undefined || typeof value === 'string') return String(value)
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'number' && !Number.isFinite(part) ? String(part) : typeof part === 'bigint' ? `${part}n` : part,
  )
}

/** Field by field: a charge is more than its verdict. */
export function isSameVerdict(a: OracleVerdict, b: OracleVerdict): boolean {
  return a.allowed === b.allowed && a.remaining === b.remaining && a.resetAt === b.resetAt && a.retryAt === b.retryAt
}
