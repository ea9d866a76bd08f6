import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { SluiceError } from 'sluice'
import { nearestName } from 'sluice/rules'
import { RulesFileError } from '../rules/problems.ts'
import { SETTINGS } from '../settings.ts'
import { check } from './check.ts'
import { explain } from './explain.ts'
import { helpText } from './help.ts'
import { block, modes, reset } from './operate.ts'
import { serve } from './serve.ts'
import { StartError } from './start-error.ts'
import { type Environment, EXIT, type Invocation, UsageError } from './usage.ts'

const SOCKET = SETTINGS.adminSocket.flag
const MERGE = SETTINGS.mergeDomains.flag

/** The commands with the flags they take. */
const COMMANDS: Readonly<
  Record<string, { flags: readonly string[]; run(call: Invocation): number | Promise<number> }>
> = {
  serve: { flags: Object.values(SETTINGS).map(({ flag }) => flag), run: serve },
  check: { flags: ['json', 'replicas', 'store', MERGE], run: check },
  explain: { flags: ['json', MERGE], run: explain },
  modes: { flags: ['json', SOCKET], run: modes },
  reset: { flags: ['json', SOCKET, 'limit'], run: reset },
  block: { flags: ['json', SOCKET, 'limit', 'for'], run: block },
}
const TEXT_FLAGS = new Set([...Object.values(COMMANDS).flatMap(({ flags }) => flags)].filter(flag => flag !== 'json'))

/** Runs `sluice` with these arguments and returns its exit code. */
export async function runCommand(words: readonly string[], environment: Environment): Promise<number> {
  try {
    const { values, positionals } = parseWords(words)
    const { help, version, ...flags } = values
    const [name, ...operands] = positionals
    if (version === true) return say(versionText())
    if (help === true || name === undefined || name === 'help')
      return say(helpText(name === 'help' ? operands[0] : name))
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
    if (command === undefined) {
      throw new UsageError(`expected a command ${Object.keys(COMMANDS).join(', ')}, got '${name}'`)
    }
    const stray = Object.keys(flags).find(flag => !command.flags.includes(flag))
    if (stray !== undefined) throw new UsageError(`expected sluice ${name} without --${stray}`)
    const { json, ...texts } = flags
    return await command.run({ operands, flags: texts as Invocation['flags'], json: json === true, environment })
  } catch (error) {
    if (error instanceof RulesFileError || error instanceof StartError) return complain(error.message, EXIT.wrong)
    if (error instanceof SluiceError) return complain(error.message, EXIT.usage)
    if (error instanceof UsageError) return complain(`${error.message}; see sluice --help`, EXIT.usage)
    throw error
  }
}

function parseWords(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        ...Object.fromEntries([...TEXT_FLAGS].map(flag => [flag, { type: 'string' as const }])),
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean', short: 'v' },
        json: { type: 'boolean' },
      },
    })
  } catch (error) {
    const [message] = (error as Error).message.split('. ')
    const unknown = /^Unknown option '--([^']+)'/.exec(message!)?.[1]
    const meant = unknown === undefined ? undefined : nearestName(unknown, [...TEXT_FLAGS, 'json', 'help', 'version'])
    throw new UsageError(meant === undefined ? message! : `${message}; write --${meant}`)
  }
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
