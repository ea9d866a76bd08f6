import { brand } from '../brand.ts'
import type { ErrorCode } from '../errors.ts'

/** Names and places in lists, from the top of a file down. */
export type Path = readonly (string | number)[]

/** One thing that is wrong with a file, and where: whoever knows the lines of the file can point at it. */
export interface Mistake {
  /** Which of several files, from 0. */
  readonly file: number
  readonly path: Path
  /** The last name of the path is itself wrong, not what stands under it. */
  readonly inName: boolean
  readonly code: ErrorCode
  readonly message: string
}

/** What is wrong with rules, all of it: an operator should not have to find out one by one. */
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
