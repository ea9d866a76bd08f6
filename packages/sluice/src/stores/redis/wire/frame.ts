import { TICKS_PER_MS } from '../../../clock.ts'
import type { RedisLink } from '../client/client.ts'
import { newId } from './hold.ts'
import type { Message } from './script.ts'

/** How wrong we may be about the server's clock. */
const CLOCK_MARGIN_TICKS = 10_000
/** How long a reply is kept at least: see lua/finish.lua. */
const KEPT_TICKS = 1_000_000

export interface FrameSettings {
  readonly link: RedisLink
  readonly prefix: string
  /** For how many ticks a call is worth doing; 0 for ever. */
  readonly validTicks: number
  /** The time that tests give to scripts made for it. */
  readonly testNow?: () => number
}

/** What every call of a shard has beside its own keys and arguments: see lua/entry.lua. */
export class CallFrame {
  readonly clockKey: string
  private readonly recordPrefix: string
  private records = 0
  /** Does the client ever send a call twice? */
  private readonly resends: boolean
  /** And the second time before it is too late for it? */
  private readonly resendsInTime: boolean
  private readonly testNow: FrameSettings['testNow']

  constructor(tag: number, { prefix, link, validTicks, testNow }: FrameSettings) {
    this.clockKey = `{${tag}}${prefix}:clock`
    this.recordPrefix = `{${tag}}${prefix}:call:${newId()}:`
    this.resends = link.resendsAfterMs < Number.POSITIVE_INFINITY
    this.resendsInTime = link.resendsAfterMs * TICKS_PER_MS <= validTicks + CLOCK_MARGIN_TICKS
    this.testNow = testNow
  }

  /** Of a call that old and said to be too late: may it have been done before, and its reply be forgotten? */
  mayBeDone(age: number): boolean {
    return this.resends && age >= KEPT_TICKS
  }

  /** `validUntil` is 0 for a call that is never too late; `mustRecord` if it is sent again however late it was. */
  around({ script, keys, args }: Message, validUntil: number, mustRecord: boolean): Message {
    const isRecorded = mustRecord || validUntil === 0 ? this.resends : this.resendsInTime
    const until = validUntil === 0 ? Number.MAX_SAFE_INTEGER : validUntil
    const allKeys = [this.clockKey, ...keys]
    // Where the reply is kept: nobody else's ever has that name.
    if (isRecorded) allKeys.push(this.recordPrefix + ++this.records)
    const allArgs = [String(isRecorded ? -until : until), ...args]
    if (this.testNow !== undefined) allArgs.push(String(this.testNow()))
    return { script, keys: allKeys, args: allArgs }
  }
}
