import { type Domains, type Mistake, type Rules, RulesError, readDescriptorFiles, readRules } from 'sluice/rules'
import { addressProblems } from './addresses.ts'
import { type Problem, RulesFileError } from './problems.ts'
import type { SourceFile } from './source-files.ts'
import { parseYaml, type YamlFile } from './yaml-file.ts'

/** A rules file of Sluice: as parsed, for `rulesLimiter`, and as checked. */
export interface LoadedRules {
  readonly parsed: unknown
  readonly rules: Rules
}

/** Files for envoyproxy/ratelimit: as parsed, for `rls`, and as checked. */
export interface LoadedDescriptors {
  readonly parsed: readonly unknown[]
  readonly domains: Domains
}

/** Throws `RulesFileError` with all errors in the file. */
export function loadRules(sources: readonly SourceFile[]): LoadedRules {
  const [source, another] = sources
  if (source === undefined || another !== undefined) {
    const { name } = another ?? { name: 'rules' }
    throw new RulesFileError([fileProblem(name, `expected one rules file, got ${sources.length}`)])
  }
  const file = parseYaml(source, isTextInRules)
  const { value: parsed } = file
  const rules = withPositions([file], () => readRules(parsed))
  const problems = addressProblems(rules, file)
  if (problems.length > 0) throw new RulesFileError(problems)
  return { parsed, rules }
}

/** Throws `RulesFileError` with all errors in all files. */
export function loadDescriptors(sources: readonly SourceFile[], mergeDomains = false): LoadedDescriptors {
  const files: YamlFile[] = []
  const problems: Problem[] = []
  for (const source of sources) {
    try {
      files.push(parseYaml(source, isTextInDescriptors))
    } catch (error) {
      if (!(error instanceof RulesFileError)) throw error
      problems.push(...error.problems)
    }
  }
  if (problems.length > 0) throw new RulesFileError(problems)
  const parsed = files.map(({ value }) => value)
  return { parsed, domains: withPositions(files, () => readDescriptorFiles(parsed, { mergeDomains })) }
}

function isTextInRules(key: string): boolean {
  return key === 'when'
}

function isTextInDescriptors(key: string): boolean {
  return key === 'domain' || key === 'key' || key === 'value' || key === 'name'
}

function withPositions<T>(files: readonly YamlFile[], read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof RulesError)) throw error
    const problems = error.mistakes.map(mistake => problemOf(files[mistake.file]!, mistake))
    // In the order of the file, since people fix them in that order.
    throw new RulesFileError(problems.sort((a, b) => order(files, a, b)))
  }
}

function problemOf({ name, positionOf }: YamlFile, { path, inName, code, message }: Mistake): Problem {
  return { file: name, ...positionOf(path, inName), code, message }
}

function order(files: readonly YamlFile[], a: Problem, b: Problem): number {
  const place = ({ file }: Problem) => files.findIndex(({ name }) => name === file)
  return place(a) - place(b) || a.line - b.line || a.column - b.column
}

function fileProblem(file: string, message: string): Problem {
  return { file, line: 0, column: 0, code: 'SLUICE_BAD_RULES', message }
}
