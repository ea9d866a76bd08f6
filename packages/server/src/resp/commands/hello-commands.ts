import { readInteger } from '../integer.ts'
import type { ReplyWriter } from '../reply-writer.ts'
import type { Session } from '../session.ts'
import { type Command, type CommandContext, CommandError, quoted } from './command.ts'
import { REDIS_VERSION } from './info.ts'
import { nameAt } from './session-commands.ts'
import type { Words } from './words.ts'

const NO_KEYS = [0, 0, 0] as const

export const authCommand: Command = {
  name: 'auth',
  arity: -2,
  summary: 'Says the password',
  group: 'connection',
  flags: ['noscript', 'loading', 'stale', 'fast', 'no_auth'],
  keys: NO_KEYS,
  isFree: true,
  run(context, session) {
    const { words, reply } = context
    if (words.count > 3) throw new CommandError('ERR syntax error')
    if (words.count === 2 && context.password === undefined) {
      throw new CommandError(
        'ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?',
      )
    }
    authenticate(context, session, words.count === 3 ? 1 : undefined, words.count - 1)
    reply.simple('OK')
  },
}

/** How many wrong passwords end a connection. */
export const MOST_WRONG_PASSWORDS = 3

/** There is one user, `default`. If no password is set, any password passes. A connection that guesses is ended. */
function authenticate(
  { words, password, stats }: CommandContext,
  session: Session,
  user: number | undefined,
  secret: number,
): void {
  const isKnown = user === undefined || words.text(user) === 'default'
  const offered = words.bytes.subarray(words.starts[secret]!, words.ends[secret]!)
  const found = password?.check(offered, session.address) ?? 'right'
  if (isKnown && found === 'right') {
    session.isAuthenticated = true
    return
  }
  stats.failedAuth++
  session.hasQuit = found === 'too-many' || ++session.wrongPasswords === MOST_WRONG_PASSWORDS
  if (found === 'too-many') throw new CommandError('ERR too many wrong passwords from this address, try again later')
  throw new CommandError('WRONGPASS invalid username-password pair or user is disabled.')
}

export const helloCommand: Command = {
  name: 'hello',
  arity: -1,
  summary: 'Chooses the protocol, 2 or 3, and says what is spoken to',
  group: 'connection',
  flags: ['noscript', 'loading', 'stale', 'fast', 'no_auth', 'allow_busy'],
  keys: NO_KEYS,
  isFree: true,
  run(context, session) {
    const { words, reply } = context
    const protocol = words.count > 1 ? protocolAsked(words) : session.protocol
    let name: string | undefined
    for (let word = 2; word < words.count; word++) {
      const left = words.count - word - 1
      if (words.is(word, 'auth') && left >= 2) {
        authenticate(context, session, word + 1, word + 2)
        word += 2
      } else if (words.is(word, 'setname') && left >= 1) name = nameAt(words, ++word)
      else throw new CommandError(`ERR Syntax error in HELLO option '${quoted(words.text(word))}'`)
    }
    if (!session.isAuthenticated) {
      throw new CommandError(
        'NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time',
      )
    }
    session.protocol = protocol
    if (name !== undefined) session.name = name
    introduce(session, reply)
  },
}

function protocolAsked(words: Words): 2 | 3 {
  const asked = readInteger(words.bytes, words.starts[1]!, words.ends[1]!)
  if (asked === undefined) throw new CommandError('ERR Protocol version is not an integer or out of range')
  if (asked !== 2 && asked !== 3) throw new CommandError('NOPROTO unsupported protocol version')
  return asked
}

function introduce({ protocol, id }: Session, reply: ReplyWriter): void {
  const texts = { server: 'redis', version: REDIS_VERSION, mode: 'standalone', role: 'master' }
  const numbers = { proto: protocol, id }
  reply.map(protocol, 7)
  for (const field of ['server', 'version', 'proto', 'id', 'mode', 'role'] as const) {
    reply.bulkText(field)
    if (field === 'proto' || field === 'id') reply.integer(numbers[field])
    else reply.bulkText(texts[field])
  }
  reply.bulkText('modules')
  reply.array(0)
}
