import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { SluiceError } from 'sluice'
import { RulesFileError } from '../rules/problems.ts'
import { SETTINGS } from '../settings.ts'
import { check } from './check.ts'
import { explain } from './explain.ts'
import { helpText } from './help.ts'
import { serve } from './serve.ts'

/** What a command ends with. */
export const EXIT = { ok: 0, wrong: 1, usage: 2 } as const

export type Environment = Readonly<Partial<Record<string, string>>>

/** A command that was called with what it cannot work with. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

const FLAGS = Object.fromEntries(
  [...Object.values(SETTINGS).map(({ flag }) => flag), 'replicas'].map(flag => [flag, { type: 'string' as const }]),
)

/** Runs `sluice` with these words after it and returns its exit code. */
export async function runCommand(words: readonly string[], environment: Environment): Promise<number> {
  try {
    const { values, positionals } = parseWords(words)
    const { help, version, json, ...flags } = values
    const [command, ...operands] = positionals
    if (version === true) return say(versionText())
    if (help === true || command === undefined || command === 'help') return say(helpText(operands[0] ?? command))
    const given = flags as Partial<Record<string, string>>
    switch (command) {
      case 'serve':
        return await serve(operands, given, environment)
      case 'check':
        return check(operands, given, json === true)
      case 'explain':
        return explain(operands, given, json === true)
      default:
        throw new UsageError(`expected a command serve, check or explain, got '${command}'`)
    }
  } catch (error) {
    if (error instanceof RulesFileError) return complain(error.message, EXIT.wrong)
    if (error instanceof SluiceError) return complain(error.message, EXIT.usage)
    if (error instanceof UsageError) return complain(`${error.message}; see sluice --help`, EXIT.usage)
    if (isListening(error)) return complain(`cannot listen: ${error.message}`, EXIT.wrong)
    throw error
  }
}

function parseWords(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        ...FLAGS,
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean', short: 'v' },
        json: { type: 'boolean' },
      },
    })
  } catch (error) {
    throw new UsageError((error as Error).message.split('. ')[0]!)
  }
}

function isListening(error: unknown): error is NodeJS.ErrnoException {
  return (error as NodeJS.ErrnoException | undefined)?.syscall === 'listen'
}

function say(text: string): number {
  console.log(text)
  return EXIT.ok
}

function complain(text: string, code: number): number {
  console.error(text)
  return code
}

function versionText(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return `sluice ${(JSON.parse(manifest) as { version: string }).version}`
}
