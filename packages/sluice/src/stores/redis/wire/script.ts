import { type ErrorCode, StoreUnavailable } from '../../../errors.ts'
import type { RedisLink } from '../client/client.ts'

/** A script as the generator made it: its text, and its SHA-1, by which the server knows it. */
export interface Script {
  readonly text: string
  readonly sha: string
}

export interface Scripts {
  readonly decide: Script
  readonly probe: Script
  readonly instances: Script
}

/** What is sent: a script, its keys and its arguments. */
export interface Message {
  readonly script: Script
  readonly keys: readonly string[]
  readonly args: readonly string[]
}

/** Runs a script by its SHA-1. If the server does not know it, sends the text once. */
export function run(link: RedisLink, message: Message): Promise<ScriptReply> {
  return new Promise((resolve, reject) => send(link, message, resolve, reject))
}

/**
 * The same with a callback instead of a promise, for thousands of calls. An error that `done` throws counts as a
 * failure.
 */
export function send(
  link: RedisLink,
  { script, keys, args }: Message,
  done: (reply: ScriptReply) => void,
  failed: (error: unknown) => void,
): void {
  const read = (bytes: unknown) => {
    try {
      done(replyOf(bytes))
    } catch (error) {
      failed(error)
    }
  }
  link.evalsha(script.sha, keys, args).then(read, error => {
    // A cluster client puts its own words before it.
    if (messageOf(error).includes('NOSCRIPT')) link.eval(script.text, keys, args).then(read, failed)
    else failed(error)
  })
}

function replyOf(bytes: unknown): ScriptReply {
  if (bytes instanceof Uint8Array) return new ScriptReply(bytes)
  throw new Error(`the script answered with ${typeof bytes} where bytes were expected`)
}

/** A script's reply: doubles, the first being the server's time. */
export class ScriptReply {
  readonly length: number
  private readonly view: DataView

  constructor(bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.length = bytes.byteLength / 8
  }

  at(n: number): number {
    return this.view.getFloat64(n * 8, true)
  }
}

/** Errors of servers, and what Sluice calls them. The first match counts. */
const FAILURES: readonly (readonly [RegExp, ErrorCode, string])[] = [
  [/^READONLY|MASTERDOWN/, 'SLUICE_STORE_READONLY', 'the server writes nothing, being a replica'],
  [/OOM command not allowed/, 'SLUICE_STORE_FULL', 'the server has reached its maxmemory'],
  [/NOPERM|can't run this command/, 'SLUICE_SCRIPT_REFUSED', 'the server lets this user not run the scripts'],
  [/^FOREIGN|WRONGTYPE/, 'SLUICE_FOREIGN_VALUE', 'a value that Sluice has not written stands at a key of its own'],
  [/string exceeds maximum|invalid bulk length/i, 'SLUICE_KEY_TOO_LONG', 'a key is larger than the server takes'],
  [/^(LOADING|CLUSTERDOWN|TRYAGAIN|BUSY)/, 'SLUICE_STORE_FAILED', 'the server cannot serve now'],
  [/connection|socket|closed|ECONN|EPIPE|stream/i, 'SLUICE_STORE_UNREACHABLE', 'the connection to the server broke'],
]

export function failureOf(error: unknown): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error
  const message = messageOf(error)
  const [, code, what] = FAILURES.find(([pattern]) => pattern.test(message)) ?? [
    undefined,
    'SLUICE_STORE_FAILED' as const,
    'the server answered with an error',
  ]
  return new StoreUnavailable(code, `${what}: ${message}`, error)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
