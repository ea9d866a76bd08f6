import { readInteger } from '../integer.ts'
import { type Command, CommandError, quoted, wrongNumber } from './command.ts'
import type { Words } from './words.ts'

const NO_KEYS = [0, 0, 0] as const

export const clientCommand: Command = {
  name: 'client',
  arity: -2,
  summary: 'Names the connection, or tells its number',
  group: 'connection',
  flags: ['noscript', 'loading', 'stale'],
  keys: NO_KEYS,
  run({ words, reply }, session) {
    const subcommand = words.lower(1)
    const wanted = CLIENT_WORDS.get(subcommand)
    if (wanted === undefined) {
      throw new CommandError(`ERR unknown subcommand '${quoted(words.text(1))}'. Try CLIENT HELP.`)
    }
    if (words.count !== wanted) throw wrongNumber(`client|${subcommand}`)
    switch (subcommand) {
      case 'id':
        reply.integer(session.id)
        break
      case 'getname':
        if (session.name === '') reply.nothing(session.protocol)
        else reply.bulkText(session.name)
        break
      case 'setname':
        session.name = nameAt(words, 2)
        reply.simple('OK')
        break
      case 'setinfo':
        if (!words.is(2, 'lib-name') && !words.is(2, 'lib-ver')) {
          throw new CommandError(`ERR Unrecognized option '${quoted(words.text(2))}'`)
        }
        reply.simple('OK')
    }
  },
}

const CLIENT_WORDS: ReadonlyMap<string, number> = new Map([
  ['id', 2],
  ['getname', 2],
  ['setname', 3],
  ['setinfo', 4],
])

/** Lists show one name per line, so names must not contain line breaks. */
export function nameAt(words: Words, word: number): string {
  const name = words.text(word)
  if (/^[!-~]*$/.test(name)) return name
  throw new CommandError('ERR Client names cannot contain spaces, newlines or special characters.')
}

export const selectCommand: Command = {
  name: 'select',
  arity: 2,
  summary: 'Chooses database 0, the only one',
  group: 'connection',
  flags: ['loading', 'stale', 'fast'],
  keys: NO_KEYS,
  run({ words, reply }) {
    const index = readInteger(words.bytes, words.starts[1]!, words.ends[1]!)
    if (index === undefined) throw new CommandError('ERR value is not an integer or out of range')
    if (index !== 0) throw new CommandError('ERR DB index is out of range')
    reply.simple('OK')
  },
}

export const resetCommand: Command = {
  name: 'reset',
  arity: 1,
  summary: 'Makes the connection as it was when it was new',
  group: 'connection',
  flags: ['noscript', 'loading', 'stale', 'fast', 'no_auth', 'allow_busy'],
  keys: NO_KEYS,
  isFree: true,
  run({ reply }, session) {
    session.reset()
    reply.simple('RESET')
  },
}

export const quitCommand: Command = {
  name: 'quit',
  arity: -1,
  summary: 'Ends the connection',
  group: 'connection',
  flags: ['noscript', 'loading', 'stale', 'fast', 'no_auth', 'allow_busy'],
  keys: NO_KEYS,
  isFree: true,
  run({ reply }, session) {
    session.hasQuit = true
    reply.simple('OK')
  },
}
