import type { RedisLink } from './client/client.ts'
import type { Flushable, FlushScheduler } from './client/flush-scheduler.ts'
import { type BatchCall, MOST_ITEMS } from './wire/batch-call.ts'
import { type BatchItem, failItem } from './wire/item.ts'
import { failureOf } from './wire/script.ts'

/** If at most this many items remain after the full calls, they may wait for more items to travel with. */
const SMALL = MOST_ITEMS / 4

export interface QueueSettings {
  readonly link: RedisLink
  /** If true, questions of one round of the event loop travel together. */
  readonly batch: boolean
}

/** Decides when the items of a shard are sent and in which calls. They are sent in the order they came. */
export class BatchQueue implements Flushable {
  private readonly settings: QueueSettings
  private readonly scheduler: FlushScheduler
  private readonly newCall: () => BatchCall
  private readonly send: (call: BatchCall) => void
  /** The items to send next, in order. */
  private waiting: BatchItem[] = []
  /** True while a check is due at the end of this round of the event loop. */
  private isSet = false
  /** The full calls under way. */
  private full: BatchCall[] = []
  constructor(
    settings: QueueSettings,
    scheduler: FlushScheduler,
    newCall: BatchQueue['newCall'],
    send: BatchQueue['send'],
  ) {
    this.settings = settings
    this.scheduler = scheduler
    this.newCall = newCall
    this.send = send
  }

  add(item: BatchItem): void {
    const count = this.waiting.push(item)
    if (!this.settings.batch) this.flush()
    else if (count === MOST_ITEMS) this.leave()
    else this.set()
  }

  /**
   * The round is over. If several full calls are on their way, the next reply will soon bring more items, so a small
   * rest waits for that. As a call of its own it would cost about as much as a full one, and every later call would be
   * as small.
   */
  flush(): void {
    this.isSet = false
    if (this.full.length < 2 || this.waiting.length > SMALL) this.leave()
  }

  private set(): void {
    if (this.isSet) return
    this.isSet = true
    this.scheduler.add(this)
  }

  /**
   * A full call leaves at once, so that the server works on it while this process handles the rest of the round. If all
   * calls left together, the server would answer them together, and from then on each side would wait for the other.
   */
  private leave(): void {
    const calls = this.callsOf(this.waiting)
    this.waiting = []
    for (const call of calls) if (call.isFull) this.full.push(call)
    const { batch, link } = this.settings
    if (batch) link.inTurn(calls.map(call => () => this.send(call)))
    else for (const call of calls) this.send(call)
  }

  /** A call was answered or failed: items that waited for it leave with the next round. */
  settled(call: BatchCall): void {
    if (this.full.length > 0) this.full = this.full.filter(other => other !== call)
    if (this.waiting.length > 0) this.set()
  }

  private callsOf(items: readonly BatchItem[]): BatchCall[] {
    const calls: BatchCall[] = []
    let call: BatchCall | undefined
    for (const item of items) {
      if (call === undefined || call.isFull) {
        call = this.newCall()
        calls.push(call)
      }
      try {
        call.add(item)
      } catch (error) {
        failItem(item, failureOf(error))
      }
    }
    return calls.filter(({ isEmpty }) => !isEmpty)
  }
}
