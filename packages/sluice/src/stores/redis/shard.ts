import type { Rule } from '../../algorithms/rule.ts'
import { StoreUnavailable } from '../../errors.ts'
import type { Charge } from '../charge.ts'
import type { Change, Question } from '../store.ts'
import { BatchCall, MOST_ITEMS } from './batch-call.ts'
import { overAlready } from './changes.ts'
import type { Link } from './client.ts'
import { DecisionItem } from './decision-item.ts'
import type { Departures } from './departures.ts'
import { Frame } from './frame.ts'
import { changeItem, failItem, type Item } from './item.ts'
import { Keys, Specs } from './message.ts'
import { failureOf, type Reply, run, type Scripts, send } from './script.ts'
import { ServerClock } from './server-clock.ts'

/** What all shards of a store share. */
export interface Settings {
  readonly link: Link
  readonly scripts: Scripts
  readonly prefix: string
  /** The tag that a key's name starts with. */
  readonly tagOf: (key: string) => number
  /** How long a call may take before nobody wants its answer, in ticks; 0 for as long as it takes. */
  readonly validTicks: number
  /** What was asked for in one round of the event loop travels together. */
  readonly batch: boolean
  /** Slots are renewed while their decisions are in use. */
  readonly heartbeat: boolean
  /** Tests say what time it is, to scripts made for that. */
  readonly testNow?: () => number
}

export interface ShardStats {
  calls: number
  /** Answers that came when nobody waited for them any more: their charges may have landed. */
  late: number
}

/** What a reply may start with in place of the time. */
const NOT_PLAIN = -2
const MICROSECONDS = 1_000_000

/**
 * One slot of a cluster, or a whole server: what is asked here in one round of the event loop goes out as one script
 * call, or a few, in the order it was asked.
 */
export class Shard {
  readonly clock: ServerClock
  private readonly settings: Settings
  private readonly stats: ShardStats
  private readonly departures: Departures
  private readonly frame: Frame
  /** By rule: when it was last found that its keys are not plain. */
  private readonly notPlain = new WeakMap<Rule, number>()
  /** What leaves next, in the order it was asked. */
  private waiting: Item[] = []
  /** It leaves when this round of the event loop is over, at the latest. */
  private isSet = false
  /**
   * Plain calls that left before their round was over, and are not answered yet. Not a `Set`: the tables that one has
   * outgrown point at those that followed, and dead as they are keep all that was ever in it from being collected young.
   */
  private early: BatchCall[] = []
  /** What waits for the answers to these. */
  private held: BatchCall[] = []
  private readonly onLate: () => void

  constructor(tag: number, settings: Settings, stats: ShardStats, departures: Departures, sister?: Shard) {
    this.clock = new ServerClock(sister?.clock)
    this.settings = settings
    this.stats = stats
    this.departures = departures
    this.frame = new Frame(tag, settings)
    this.onLate = () => stats.late++
  }

  ask(question: Question): void {
    this.add(new DecisionItem(question))
  }

  /** Nothing is sent for what is known to be over. */
  amend(change: Change): Promise<number> {
    const over = overAlready(change)
    if (over !== undefined) return Promise.resolve(over)
    return new Promise((done, failed) => this.add(changeItem(change, done, failed)))
  }

  /** How many processes are alive, this one included: see lua/instances.lua. */
  async instances(id: string, rememberTicks: number): Promise<number> {
    const key = this.frame.clockKey.replace(/clock$/, 'instances')
    const { link, scripts } = this.settings
    return (await run(link, { script: scripts.instances, keys: [key], args: [id, String(rememberTicks)] })).at(0)
  }

  async probe(): Promise<void> {
    const sentAt = this.clock.here()
    const { link, scripts, testNow } = this.settings
    const args = testNow === undefined ? [] : [String(testNow())]
    const reply = await run(link, { script: scripts.probe, keys: [this.frame.clockKey], args })
    this.clock.observe(sentAt, reply.at(0))
  }

  async history(charge: Charge): Promise<number[]> {
    const keys = new Keys(this.settings.tagOf)
    const specs = new Specs(this.now())
    keys.numberOf(charge)
    specs.numberOf(charge)
    const message = {
      script: this.settings.scripts.history,
      keys: keys.names,
      args: [`{"logs":1,"specs":${specs.json}}`],
    }
    const reply = await run(this.settings.link, this.frame.around(message, 0))
    const times = Array.from({ length: reply.length - 1 }, (_, n) => reply.at(n + 1))
    if (times[0]! < 0) throw new StoreUnavailable('SLUICE_FOREIGN_VALUE', 'a foreign value stands at the key')
    return times
  }

  /** The server's time, about. */
  private now(): number {
    const { testNow } = this.settings
    return testNow === undefined ? this.clock.there(this.clock.here()) : testNow()
  }

  private add(item: Item): void {
    const count = this.waiting.push(item)
    if (!this.settings.batch) this.flush()
    else if (count === MOST_ITEMS) this.leave(true)
    else if (!this.isSet) {
      this.isSet = true
      this.departures.add(this)
    }
  }

  /** The round is over. */
  flush(): void {
    this.isSet = false
    this.leave(false)
    if (this.held.length === 0 && this.early.length > 0) this.early = []
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
    const isOfOneKind = [...this.early, ...calls].every(call => call.isLike(calls[0]!))
    const mustWait = this.held.length > 0 || (this.early.length > 0 && !isOfOneKind)
    for (const call of calls) {
      if (!isOfOneKind || mustWait) call.goInFull()
      else if (isEarly && call.plainRule !== undefined) this.early.push(call)
    }
    if (mustWait) this.held.push(...calls)
    else this.sendAll(calls)
  }

  /** It was answered, or sent again: what waited for that leaves. */
  private release(call: BatchCall): void {
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

  private callsOf(items: readonly Item[]): BatchCall[] {
    const { scripts, tagOf } = this.settings
    const calls: BatchCall[] = []
    let call: BatchCall | undefined
    for (const item of items) {
      if (call === undefined || call.isFull) {
        call = new BatchCall(scripts, tagOf, this.onLate)
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

  private send(call: BatchCall, again = false): void {
    const { link, validTicks, testNow } = this.settings
    const failed = (error: unknown) => {
      call.fail(failureOf(error))
      this.release(call)
    }
    // A client that is not connected would keep it and send it when nobody waits for it any more.
    if (call.abandoned || !link.isReady()) {
      failed(call.abandoned ? tooLate() : notConnected())
      return
    }
    this.stats.calls++
    if (this.isNotPlain(call.plainRule)) call.goInFull()
    const sentAt = this.clock.here()
    const now = this.clock.there(sentAt)
    const validUntil = validTicks === 0 || !this.clock.isKnown ? 0 : now + validTicks
    try {
      const message = this.frame.around(call.message(testNow === undefined ? now : testNow()), validUntil)
      send(link, message, reply => this.answered(call, reply, sentAt, again), failed)
    } catch (error) {
      failed(error) // what is too large for a string is not even sent
    }
  }

  private answered(call: BatchCall, reply: Reply, sentAt: number, again: boolean): void {
    this.receive(call, reply, sentAt, again)
    this.release(call)
  }

  private receive(call: BatchCall, reply: Reply, sentAt: number, again: boolean): void {
    const first = reply.at(0)
    if (first >= 0) {
      this.clock.observe(sentAt, first)
      call.read(reply)
    } else if (first === NOT_PLAIN) {
      this.notPlain.set(call.plainRule!, sentAt)
      this.send(call, again)
    } else {
      // Either it took too long, and nobody waits, or the server's clock has been set.
      const age = this.clock.here() - sentAt
      const isPrompt = age <= this.settings.validTicks
      this.clock.observe(sentAt, reply.at(1))
      if (again || this.frame.mayBeDone(age)) {
        call.fail(tooLate())
        return
      }
      if (!isPrompt) call.giveUpDecisions(tooLate())
      this.send(call, true)
    }
  }

  /** A limit with blocks, reservations or resets will have more of them: for a while nobody tries the short way. */
  private isNotPlain(rule: Rule | undefined): boolean {
    const seenAt = rule === undefined ? undefined : this.notPlain.get(rule)
    return seenAt !== undefined && this.clock.here() - seenAt < MICROSECONDS
  }
}

function notConnected(): StoreUnavailable {
  const what = 'the client is not connected: call its connect(), or wait'
  return new StoreUnavailable('SLUICE_STORE_UNREACHABLE', what)
}

function tooLate(): StoreUnavailable {
  return new StoreUnavailable('SLUICE_STORE_TIMEOUT', 'the call reached the server after its deadline')
}
