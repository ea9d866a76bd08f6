import { newId } from './hold.ts'
import type { Message } from './message.ts'
import type { Settings } from './shard.ts'

const MICROSECONDS = 1_000_000
const LONGEST_RESEND_SECONDS = 60
/** How wrong we may be about the server's clock. */
const CLOCK_MARGIN_TICKS = 10_000

/** What every call of a shard has beside its own keys and arguments: see lua/entry.lua. */
export class Frame {
  readonly clockKey: string
  private readonly recordStem: string
  private records = 0
  private readonly keepSeconds: string
  private readonly testNow: Settings['testNow']

  constructor(tag: number, settings: Settings) {
    this.clockKey = `{${tag}}${settings.prefix}:clock`
    this.recordStem = `{${tag}}${settings.prefix}:call:${newId()}:`
    this.keepSeconds = keepSeconds(settings)
    this.testNow = settings.testNow
  }

  around({ script, keys, args }: Message, validUntil: number): Message {
    const allKeys = [this.clockKey, ...keys]
    // Where the reply is kept: nobody else's ever has that name.
    if (this.keepSeconds !== '') allKeys.push(this.recordStem + ++this.records)
    const allArgs = [String(validUntil), this.keepSeconds, ...args]
    if (this.testNow !== undefined) allArgs.push(String(this.testNow()))
    return { script, keys: allKeys, args: allArgs }
  }
}

/**
 * How long a server remembers a reply, for a client that sends a call twice: longer than a call is valid. '' for not at
 * all, where a call that is sent again always comes too late to count.
 */
function keepSeconds({ link, validTicks }: Settings): string {
  if (validTicks === 0) return String(LONGEST_RESEND_SECONDS)
  const inTime = link.resendsAfterMs * 1000 <= validTicks + CLOCK_MARGIN_TICKS
  return inTime ? String(Math.ceil(validTicks / MICROSECONDS) + 1) : ''
}
