import type { Session } from '../session.ts'
import { type Command, type CommandContext, CommandError, type Later, quoted, wrongNumber } from './command.ts'
import { commandCommand } from './command-command.ts'
import { authCommand, helloCommand } from './hello-commands.ts'
import { existsCommand, expireCommand, pttlCommand, ttlCommand } from './key-commands.ts'
import { echoCommand, infoCommand, pingCommand } from './server-commands.ts'
import { clientCommand, quitCommand, resetCommand, selectCommand } from './session-commands.ts'
import { delCommand, throttleCommand } from './throttle-commands.ts'
import type { Words } from './words.ts'

const ALL: readonly Command[] = [
  ...[throttleCommand, delCommand, existsCommand, ttlCommand, pttlCommand, expireCommand],
  ...[pingCommand, echoCommand, infoCommand, commandCommand(() => ALL)],
  ...[authCommand, helloCommand, clientCommand, selectCommand, resetCommand, quitCommand],
]

const BY_NAME: ReadonlyMap<string, Command> = new Map(ALL.map(command => [command.name, command]))

/** Nearly all calls are for one command, so its bytes are compared first; other commands are looked up. */
export function commandOf(words: Words): Command | undefined {
  return words.is(0, throttleCommand.name) ? throttleCommand : BY_NAME.get(words.lower(0))
}

/** Words that start an HTTP request. A page may have made a browser send it, with commands in its body, so none is run. */
export function isHttp(words: Words): boolean {
  return words.is(0, 'post') || words.is(0, 'host:')
}

/**
 * Carries out one command. The answer is in the reply, or the promise resolves to a function that writes it. This never
 * throws or rejects: errors are answers, too.
 */
export function carryOut(command: Command | undefined, context: CommandContext, session: Session): Later {
  const { reply, stats } = context
  stats.commands++
  try {
    const later = checked(command, context, session).run(context, session)
    return later?.catch((error: unknown) => {
      const message = messageOf(error, context)
      return slow => slow.error(message)
    })
  } catch (error) {
    reply.error(messageOf(error, context))
    return undefined
  }
}

function checked(command: Command | undefined, { words }: CommandContext, session: Session): Command {
  if (command === undefined) throw unknown(words)
  const { arity } = command
  if (arity > 0 ? words.count !== arity : words.count < -arity) throw wrongNumber(command.name)
  if (!session.isAuthenticated && command.isFree !== true) throw new CommandError('NOAUTH Authentication required.')
  return command
}

function unknown(words: Words): CommandError {
  let shown = ''
  for (let word = 1; word < words.count && shown.length < 128; word++) {
    shown += `'${words.text(word).slice(0, 128 - shown.length)}' `
  }
  return new CommandError(`ERR unknown command '${quoted(words.text(0))}', with args beginning with: ${shown}`)
}

/** Store errors are passed on with their text. Any other error is internal, so its text is not shown. */
function messageOf(error: unknown, { stats }: CommandContext): string {
  if (error instanceof CommandError) return error.message
  stats.failed++
  const isKnown = error instanceof Error && 'code' in error && String(error.code).startsWith('SLUICE_')
  return isKnown ? `ERR ${error.message}` : 'ERR internal error'
}
