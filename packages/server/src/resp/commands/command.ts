import type { Password } from '../password.ts'
import type { ReplyWriter } from '../reply-writer.ts'
import type { Session } from '../session.ts'
import type { Throttle, ThrottleRequest, ThrottleVerdict } from '../throttle/throttle.ts'
import type { Words } from './words.ts'

/** Counts since the start, except `connections`, which is the number of open ones. */
export interface RespStats {
  connections: number
  accepted: number
  /** Connections refused because there were too many. */
  turnedAway: number
  /** Connections closed because they were idle, sent half a command or did not read. */
  timedOut: number
  protocolErrors: number
  failedAuth: number
  commands: number
  allowed: number
  limited: number
  /** Commands that were answered with an error because the store or this program failed. */
  failed: number
}

/** What a command works with. All connections share it; only the session is their own. */
export interface CommandContext {
  readonly words: Words
  readonly reply: ReplyWriter
  readonly throttle: Throttle
  readonly password: Password | undefined
  readonly stats: RespStats
  /** The current request. */
  readonly ask: ThrottleRequest
  /** The current answer. A call that answers later keeps this object and puts a new one here. */
  verdict: ThrottleVerdict
}

/** Writes an answer that came later. */
export type Finish = (reply: ReplyWriter) => void

/** Undefined if the answer is already in the reply; otherwise resolves to a function that writes it. */
export type Later = Promise<Finish> | undefined

export interface Command {
  readonly name: string
  /** The number of words as Redis counts it: with the name, and negative for a minimum. */
  readonly arity: number
  readonly summary: string
  readonly group: 'connection' | 'generic' | 'server' | 'module'
  readonly flags: readonly string[]
  /** The first word that is a key, the last, and how far apart; 0 without keys. */
  readonly keys: readonly [first: number, last: number, step: number]
  /** Whether the command is allowed before AUTH. */
  readonly isFree?: boolean
  /** Whether the command waits for all earlier ones, and later ones wait for it: it changes state that they may use. */
  readonly isOrdered?: (words: Words) => boolean
  /** Writes the answer to the reply, now or later. */
  run(context: CommandContext, session: Session): Later
}

/** An error reply with its text as it is sent: `ERR …`. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

export function wrongNumber(name: string): CommandError {
  return new CommandError(`ERR wrong number of arguments for '${name}' command`)
}

/** The start of a text of any length and any bytes, for an error message. */
export function quoted(text: string): string {
  return text.slice(0, 128)
}
