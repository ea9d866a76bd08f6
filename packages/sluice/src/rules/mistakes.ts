import { brand } from '../brand.ts'
import type { ErrorCode } from '../errors.ts'

/** A path of names and list indexes, from the top of a file down. */
export type Path = readonly (string | number)[]

/** One error in a file, with its path, from which a caller that knows the file's lines can find the line. */
export interface Mistake {
  /** The index of the file, if there are several. */
  readonly file: number
  readonly path: Path
  /** The last name of the path itself is wrong, not its value. */
  readonly inName: boolean
  readonly code: ErrorCode
  readonly message: string
}

/** All errors in rules at once, so that an operator need not find them one by one. */
export class RulesError extends Error {
  override readonly name = 'RulesError'
  readonly code = 'SLUICE_BAD_RULES'
  readonly mistakes: readonly Mistake[]

  constructor(mistakes: readonly Mistake[]) {
    super(mistakes.map(({ message, code }) => `${message} [${code}]`).join('\n'))
    this.mistakes = mistakes
  }
}
brand('RulesError', RulesError)

/** `limits.per-ip.key`, `descriptors[0].rate_limit`. */
export function pathText(path: Path): string {
  let text = ''
  for (const step of path) text += typeof step === 'number' ? `[${step}]` : text === '' ? step : `.${step}`
  return text === '' ? 'the file' : text
}
