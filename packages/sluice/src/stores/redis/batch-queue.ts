import type { RedisLink } from './client/client.ts'
import type { Flushable, FlushScheduler } from './client/flush-scheduler.ts'
import { type BatchCall, MOST_ITEMS } from './wire/batch-call.ts'
import { type BatchItem, failItem } from './wire/item.ts'
import { failureOf } from './wire/script.ts'

/** As much of a round's rest as waits for more to go with. */
const SMALL = MOST_ITEMS / 4

export interface QueueSettings {
  readonly link: RedisLink
  /** Questions of one round of the event loop travel together. */
  readonly batch: boolean
}

/** When what is asked of a shard leaves, and in which calls: in the order it was asked. */
export class BatchQueue implements Flushable {
  private readonly settings: QueueSettings
  private readonly scheduler: FlushScheduler
  private readonly newCall: () => BatchCall
  private readonly send: (call: BatchCall) => void
  /** What leaves next, in the order it was asked. */
  private waiting: BatchItem[] = []
  /** It is looked at when this round of the event loop is over. */
  private isSet = false
  /** Full calls that are on their way. */
  private full: BatchCall[] = []
  /**
   * Plain calls that left before their round was over, and are not answered yet. Not a `Set`: the tables that one has
   * outgrown point at those that followed, and dead as they are keep all that was ever in it from being collected young.
   */
  private early: BatchCall[] = []
  /** What waits for the answers to these. */
  private held: BatchCall[] = []

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
    else if (count === MOST_ITEMS) this.leave(true)
    else this.set()
  }

  /**
   * The round is over. With several full calls on their way the next answer is near, and brings more to ask: a small rest
   * waits for that. As a call of its own it would cost about as much as a full one, and come back as small each time.
   */
  flush(): void {
    this.isSet = false
    if (this.full.length < 2 || this.waiting.length > SMALL) this.leave(false)
    if (this.held.length === 0 && this.waiting.length === 0 && this.early.length > 0) this.early = []
  }

  private set(): void {
    if (this.isSet) return
    this.isSet = true
    this.scheduler.add(this)
  }

  /**
   * A full call leaves at once, so that the server works on it while we see to the rest of the round. Were all to leave
   * together, the server would answer them together, and from then on each side would wait for the other.
   */
  private leave(isEarly: boolean): void {
    const calls = this.callsOf(this.waiting)
    this.waiting = []
    if (calls.length === 0) return
    // A plain call that turns out not to be plain is sent again, behind those that followed it. So what is not like it
    // waits for its answer, and nothing is plain beside something else.
    const isOfOneKind = isLikeAll(calls[0]!, calls) && isLikeAll(calls[0]!, this.early)
    const mustWait = this.held.length > 0 || (this.early.length > 0 && !isOfOneKind)
    for (const call of calls) {
      if (call.isFull) this.full.push(call)
      if (!isOfOneKind || mustWait) call.disableShortForm()
      else if (isEarly && call.plainRule !== undefined) this.early.push(call)
    }
    if (mustWait) this.held.push(...calls)
    else this.sendAll(calls)
  }

  /** It was answered, sent again or given up: what waited for that leaves. */
  settled(call: BatchCall): void {
    if (this.full.length > 0) this.full = this.full.filter(other => other !== call)
    if (this.waiting.length > 0) this.set()
    if (!this.early.includes(call)) return
    this.early = this.early.filter(other => other !== call)
    if (this.early.length > 0) return
    const { held } = this
    this.held = []
    this.sendAll(held)
  }

  private sendAll(calls: readonly BatchCall[]): void {
    const { batch, link } = this.settings
    if (batch) link.inTurn(calls.map(call => () => this.send(call)))
    else for (const call of calls) this.send(call)
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

function isLikeAll(call: BatchCall, others: readonly BatchCall[]): boolean {
  for (const other of others) if (other !== call && !other.isLike(call)) return false
  return true
}
