/** One thing wrong with a rules file, where an editor finds it. Lines and columns count from 1; 0 is the whole file. */
export interface Problem {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly code: string
  readonly message: string
}

/** Rules that cannot be used, with everything that is wrong with them. */
export class RulesFileError extends Error {
  override readonly name = 'RulesFileError'
  readonly code = 'SLUICE_BAD_RULES'
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super(problems.map(problemText).join('\n'))
    this.problems = problems
  }
}

/** As compilers write it, so that terminals and editors make a link of it: `rules.yaml:3:7: expected …`. */
export function problemText({ file, line, column, code, message }: Problem): string {
  return `${line === 0 ? file : `${file}:${line}:${column}`}: ${message} [${code}]`
}
