import { TICKS_PER_MS } from '../../../clock.ts'
import type { RedisLink } from '../client/client.ts'
import { newId } from './hold.ts'
import type { Message } from './script.ts'

/** How far the estimate of the server's clock may be off. */
const CLOCK_MARGIN_TICKS = 10_000
/** The shortest time a reply is kept: see lua/finish.lua. */
const KEPT_TICKS = 1_000_000

export interface FrameSettings {
  readonly link: RedisLink
  readonly prefix: string
  /** How many ticks a call may be late; 0 for any number. */
  readonly validTicks: number
  /** The time that tests give to scripts made for tests. */
  readonly testNow?: () => number
}

/** What every call of a shard carries beside its own keys and arguments: see lua/entry.lua. */
export class CallFrame {
  readonly clockKey: string
  private readonly recordPrefix: string
  private records = 0
  /** Whether the client ever sends a call twice. */
  private readonly resends: boolean
  /** Whether it may send a call a second time before the call is too late. */
  private readonly resendsInTime: boolean
  private readonly testNow: FrameSettings['testNow']

  constructor(tag: number, { prefix, link, validTicks, testNow }: FrameSettings) {
    this.clockKey = `{${tag}}${prefix}:clock`
    this.recordPrefix = `{${tag}}${prefix}:call:${newId()}:`
    this.resends = link.resendsAfterMs < Number.POSITIVE_INFINITY
    this.resendsInTime = link.resendsAfterMs * TICKS_PER_MS <= validTicks + CLOCK_MARGIN_TICKS
    this.testNow = testNow
  }

  /** Whether a call of that age that was answered "too late" may have been done before, with its reply forgotten. */
  mayBeDone(age: number): boolean {
    return this.resends && age >= KEPT_TICKS
  }

  /** `validUntil` is 0 for a call that is never too late. `mustRecord` is true if the call is sent again at any age. */
  around({ script, keys, args }: Message, validUntil: number, mustRecord: boolean): Message {
    const isRecorded = mustRecord || validUntil === 0 ? this.resends : this.resendsInTime
    const until = validUntil === 0 ? Number.MAX_SAFE_INTEGER : validUntil
    const allKeys = [this.clockKey, ...keys]
    // The name under which the reply is kept. No other call has it.
    if (isRecorded) allKeys.push(this.recordPrefix + ++this.records)
    const allArgs = [String(isRecorded ? -until : until), ...args]
    if (this.testNow !== undefined) allArgs.push(String(this.testNow()))
    return { script, keys: allKeys, args: allArgs }
  }
}
