/** What a command ends with. */
export const EXIT = { ok: 0, wrong: 1, usage: 2 } as const

export type Environment = Readonly<Partial<Record<string, string>>>

/** A command as it was called. */
export interface Invocation {
  readonly operands: readonly string[]
  readonly flags: Readonly<Partial<Record<string, string>>>
  /** Whether a machine reads what it prints. */
  readonly json: boolean
  readonly environment: Environment
}

/** A command that was called with what it cannot work with. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
