import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { RulesFileError } from './problems.ts'

/** A file as it was read. */
export interface SourceFile {
  readonly name: string
  readonly text: string
}

/** Ten thousand rules are about two megabytes. */
const LARGEST_BYTES = 16 * 1024 * 1024

/** A file, or all YAML files of a folder in the order of their names, without hidden ones (`.name`). */
export function readSources(path: string): SourceFile[] {
  return attempt(path, () => {
    if (!statSync(path).isDirectory()) return [readSource(path)]
    const names = readdirSync(path).filter(isRulesName).sort()
    if (names.length === 0) throw unreadable(path, 'expected at least one .yaml file in the folder, got none')
    return names.map(name => readSource(join(path, name)))
  })
}

export function isRulesName(name: string): boolean {
  return /^[^.].*\.ya?ml$/.test(name)
}

function readSource(name: string): SourceFile {
  return attempt(name, () => {
    const { size } = statSync(name)
    if (size > LARGEST_BYTES) throw unreadable(name, `expected at most ${LARGEST_BYTES} bytes, got ${size}`)
    return { name, text: new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(name)) }
  })
}

function attempt<T>(path: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof RulesFileError) throw error
    if (error instanceof TypeError) throw unreadable(path, 'expected text in UTF-8')
    throw unreadable(path, `expected a file that can be read, got ${(error as NodeJS.ErrnoException).code ?? error}`)
  }
}

function unreadable(file: string, message: string): RulesFileError {
  return new RulesFileError([{ file, line: 0, column: 0, code: 'SLUICE_BAD_RULES', message }])
}
