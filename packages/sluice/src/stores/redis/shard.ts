import { StoreUnavailable } from '../../errors.ts'
import type { Charge } from '../charge.ts'
import type { KeyInspection } from '../inspection.ts'
import type { Change, Question } from '../store.ts'
import { BatchQueue, type QueueSettings } from './batch-queue.ts'
import type { FlushScheduler } from './client/flush-scheduler.ts'
import { ServerClock } from './client/server-clock.ts'
import { BatchCall } from './wire/batch-call.ts'
import { overAlready } from './wire/changes.ts'
import { CallFrame, type FrameSettings } from './wire/frame.ts'
import { inspectionOf } from './wire/inspection.ts'
import { changeItem } from './wire/item.ts'
import { nameOf, prefixOf } from './wire/naming.ts'
import { failureOf, run, type ScriptReply, type Scripts, send } from './wire/script.ts'
import { phaseOf, specText } from './wire/spec.ts'
import { FOREIGN } from './wire/verdicts.ts'

/** What all shards of a store share. */
export interface ShardSettings extends FrameSettings, QueueSettings {
  readonly scripts: Scripts
  /** The tag that the shard's key names start with. */
  readonly tagOf: (key: string) => number
  /** Renews slots while their decisions are in use. */
  readonly heartbeat: boolean
  /** Called with the number of ticks by which the server's clock was set back. */
  readonly onSetBack?: (ticks: number) => void
}

export interface ShardStats {
  calls: number
  /** Replies that came when no caller waited for them any more. Their charges may have been taken. */
  late: number
}

/** The first number of a reply if the server's clock was set back and nothing was done; otherwise it is the time. */
const SET_BACK = -4

/**
 * One slot of a cluster, or a whole server. What is asked here in one round of the event loop is sent as one script
 * call, or a few, in the order it was asked.
 */
export class RedisShard {
  readonly clock: ServerClock
  private readonly settings: ShardSettings
  private readonly stats: ShardStats
  private readonly frame: CallFrame
  private readonly queue: BatchQueue
  /** How far the shard's time is ahead of the server's clock, as far as replies have told this process. */
  private ahead = 0

  constructor(
    tag: number,
    settings: ShardSettings,
    stats: ShardStats,
    scheduler: FlushScheduler,
    neighbour?: RedisShard,
  ) {
    this.clock = new ServerClock(neighbour?.clock)
    this.settings = settings
    this.stats = stats
    this.frame = new CallFrame(tag, settings)
    const { scripts, tagOf } = settings
    const newCall = () => new BatchCall(scripts, tagOf, () => stats.late++)
    this.queue = new BatchQueue(settings, scheduler, newCall, call => this.send(call))
  }

  ask(question: Question): void {
    this.queue.add(question)
  }

  /** Sends nothing for callers that have stopped waiting. */
  amend(change: Change): Promise<number> {
    const over = overAlready(change)
    if (over !== undefined) return Promise.resolve(over)
    return new Promise((done, failed) => this.queue.add(changeItem(change, done, failed)))
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

  async inspect(charge: Charge): Promise<KeyInspection> {
    const { link, scripts, tagOf } = this.settings
    const { key, rule } = charge
    const message = {
      script: scripts.decide,
      keys: [nameOf(prefixOf(charge), key, tagOf(key))],
      args: [
        `{"logs":${Number(rule.kind === 'log')},"specs":[${specText(rule, undefined, this.now())}],"inspect":${phaseOf(charge)}}`,
      ],
    }
    const reply = await run(link, this.frame.around(message, 0, false))
    if (reply.at(0) === SET_BACK) {
      this.setBack(reply.at(1))
      return this.inspect(charge)
    }
    if (reply.at(1) === FOREIGN) {
      throw new StoreUnavailable('SLUICE_FOREIGN_VALUE', 'a foreign value stands at the key')
    }
    return inspectionOf(charge.rule, reply)
  }

  /** An estimate of the server's time. */
  private now(): number {
    const { testNow } = this.settings
    return testNow === undefined ? this.clock.there(this.clock.here()) : testNow() + this.ahead
  }

  private setBack(ticks: number): void {
    this.ahead += ticks
    this.settings.onSetBack?.(ticks)
  }

  private send(call: BatchCall, again = false): void {
    const { link, validTicks } = this.settings
    const failed = (error: unknown) => {
      call.fail(failureOf(error))
      this.queue.settled(call)
    }
    // A client that is not connected would keep the call and send it when no caller waits for it any more.
    if (call.abandoned || !link.isReady()) {
      failed(call.abandoned ? tooLate() : notConnected())
      return
    }
    this.stats.calls++
    const sentAt = this.clock.here()
    const now = this.clock.there(sentAt)
    const validUntil = validTicks === 0 || !this.clock.isKnown ? 0 : now + validTicks
    try {
      const message = this.frame.around(call.message(this.now()), validUntil, call.hasChanges)
      send(link, message, reply => this.answered(call, reply, sentAt, again), failed)
    } catch (error) {
      failed(error) // a call too large for a string is not even sent
    }
  }

  private answered(call: BatchCall, reply: ScriptReply, sentAt: number, again: boolean): void {
    this.receive(call, reply, sentAt, again)
    this.queue.settled(call)
  }

  private receive(call: BatchCall, reply: ScriptReply, sentAt: number, again: boolean): void {
    const first = reply.at(0)
    if (first >= 0) {
      this.clock.observe(sentAt, first)
      call.read(reply)
    } else if (first === SET_BACK) {
      this.setBack(reply.at(1))
      this.send(call, again)
    } else {
      // Either the call took too long and no caller waits, or the server's clock was set.
      const age = this.clock.here() - sentAt
      const isPrompt = age <= this.settings.validTicks
      this.clock.observe(sentAt, reply.at(1))
      if (again || this.frame.mayBeDone(age)) {
        call.fail(tooLate())
        return
      }
      if (!isPrompt) call.failDecisions(tooLate())
      this.send(call, true)
    }
  }
}

function notConnected(): StoreUnavailable {
  const what = 'the client is not connected: call its connect(), or wait'
  return new StoreUnavailable('SLUICE_STORE_UNREACHABLE', what)
}

function tooLate(): StoreUnavailable {
  return new StoreUnavailable('SLUICE_STORE_TIMEOUT', 'the call reached the server after its deadline')
}
