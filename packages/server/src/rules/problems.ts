/** One error in a rules file and its position. Lines and columns count from 1; 0 is the whole file. */
export interface Problem {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly code: string
  readonly message: string
}

/** The rules cannot be used. Holds all of their errors. */
export class RulesFileError extends Error {
  override readonly name = 'RulesFileError'
  readonly code = 'SLUICE_BAD_RULES'
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super(problems.map(problemText).join('\n'))
    this.problems = problems
  }
}

/** Written like a compiler's error, so that terminals and editors link to the place: `rules.yaml:3:7: expected …`. */
export function problemText({ file, line, column, code, message }: Problem): string {
  return `${line === 0 ? file : `${file}:${line}:${column}`}: ${message} [${code}]`
}
