/** The exit codes of commands. */
export const EXIT = { ok: 0, wrong: 1, usage: 2 } as const

export type Environment = Readonly<Partial<Record<string, string>>>

/** A command as it was called. */
export interface Invocation {
  readonly operands: readonly string[]
  readonly flags: Readonly<Partial<Record<string, string>>>
  /** Whether the command prints JSON. */
  readonly json: boolean
  readonly environment: Environment
}

/** A command was called with wrong arguments. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
