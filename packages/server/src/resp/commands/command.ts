import type { Password } from '../password.ts'
import type { ReplyWriter } from '../reply-writer.ts'
import type { Session } from '../session.ts'
import type { Throttle, ThrottleRequest, ThrottleVerdict } from '../throttle/throttle.ts'
import type { Words } from './words.ts'

/** What happened since the start. Connections are those of now. */
export interface RespStats {
  connections: number
  accepted: number
  /** Turned away because there were too many. */
  turnedAway: number
  /** Closed because they were idle, sent half a command or did not read. */
  timedOut: number
  protocolErrors: number
  failedAuth: number
  commands: number
  allowed: number
  limited: number
  /** Commands that were answered with an error because the store or this program failed. */
  failed: number
}

/** What a command works with: the same for all connections, but for the session. */
export interface CommandContext {
  readonly words: Words
  readonly reply: ReplyWriter
  readonly throttle: Throttle
  readonly password: Password | undefined
  readonly stats: RespStats
  /** What is asked now. */
  readonly ask: ThrottleRequest
  /** What is answered now. A call whose answer comes later keeps it, and leaves a new one here. */
  verdict: ThrottleVerdict
}

/** Writes an answer that came later. */
export type Finish = (reply: ReplyWriter) => void

/** Nothing, when the answer stands in the reply; or what will write it. */
export type Later = Promise<Finish> | undefined

export interface Command {
  readonly name: string
  /** As Redis counts: with the name itself, and so many at least where it is negative. */
  readonly arity: number
  readonly summary: string
  readonly group: 'connection' | 'generic' | 'server' | 'module'
  readonly flags: readonly string[]
  /** The first word that is a key, the last, and how far apart; 0 without keys. */
  readonly keys: readonly [first: number, last: number, step: number]
  /** Carried out before AUTH, too. */
  readonly isFree?: boolean
  /** Changes what others before it may still be asking for: it waits for them, and those after it wait for it. */
  readonly isOrdered?: (words: Words) => boolean
  /** Answers into the reply, or later. */
  run(context: CommandContext, session: Session): Later
}

/** An answer that is an error, as it is sent: `ERR …`. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

export function wrongNumber(name: string): CommandError {
  return new CommandError(`ERR wrong number of arguments for '${name}' command`)
}

/** What stands first of a text of any length and any bytes, for an error message. */
export function quoted(text: string): string {
  return text.slice(0, 128)
}
