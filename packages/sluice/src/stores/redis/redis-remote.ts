import { after, afterUnref, atEndOfTurn, type Clock, systemClock } from '../../clock.ts'
import { expected, StoreUnavailable } from '../../errors.ts'
import { type Charge, isDecided } from '../charge.ts'
import { decideAcross, type Parties } from '../coordinator.ts'
import type { KeyInspection } from '../inspection.ts'
import type { Space } from '../limit.ts'
import type { RemoteStore } from '../remote/remote-store.ts'
import { type Change, type Intent, LOOK, type Question } from '../store.ts'
import { FlushScheduler } from './client/flush-scheduler.ts'
import { checkServer } from './client/server-check.ts'
import { Heartbeat } from './heartbeat.ts'
import { RedisShard, type ShardSettings, type ShardStats } from './shard.ts'
import { RedisSpace } from './wire/naming.ts'
import { failureOf, type Script } from './wire/script.ts'

/** One script call blocks the server, so it must take no more than a few hundred microseconds. */
const MOST_CHARGES = 100

/** One primary of a cluster that hangs must not delay the others. */
const LONGEST_START_MS = 500

/** The store without its wrappers: Redis keeps the state, scripts decide, and the server's clock tells the time. */
export class RedisRemote implements RemoteStore {
  readonly mode = 'async'
  readonly clock: Clock
  readonly counters: ShardStats = { calls: 0, late: 0 }
  localShare = 0.5
  connecting: Promise<void> | undefined
  /** Why this server cannot be used at all. */
  unfit: StoreUnavailable | undefined
  private readonly settings: ShardSettings
  private readonly scheduler: FlushScheduler
  /** By tag. */
  private readonly shards: RedisShard[] = []
  private readonly spaces = new Map<string, RedisSpace>()
  private readonly heartbeat: Heartbeat | undefined
  closed = false
  private cancelCheck: (() => void) | undefined
  private readonly slots: Parties = {
    partyOf: charge => this.shardOf(charge),
    isFirst: () => false,
    ask: async (charges, intent, refused) => {
      await new Promise<void>(done => this.askTogether({ charges, intent: refused ? LOOK : intent, done }))
      // Another slot may have refused what this one would admit, so asking again may help.
      for (const charge of charges) if (!charge.allowed && charge.fault === undefined) charge.tentative = true
    },
    giveBack: taken => this.giveBack(taken),
  }

  constructor(settings: ShardSettings) {
    this.settings = settings
    this.scheduler = new FlushScheduler(settings.link)
    if (settings.heartbeat) this.heartbeat = new Heartbeat(charge => this.amend([{ type: 'renew', charge }]))
    const { testNow } = settings
    this.clock = testNow === undefined ? this.shard(0).clock : { now: () => testNow() / 1000 }
  }

  bind(path: string): Space {
    let space = this.spaces.get(path)
    if (space === undefined) {
      space = new RedisSpace(path, this)
      this.spaces.set(path, space)
    }
    return space
  }

  shardOf(charge: Charge): number {
    return this.settings.link.isCluster ? this.settings.tagOf(charge.key) : 0
  }

  atDeparture(callback: () => void): void {
    if (this.settings.batch) this.scheduler.whenLeaving(callback)
    else atEndOfTurn(callback)
  }

  /** Waits for the first connection, loads the scripts and checks the server, then does so again from time to time. */
  connect(onEviction: (policy: string) => void, recheckMs: number): void {
    const { link } = this.settings
    this.connecting = new Promise<void>(resolve => link.whenReady(resolve))
      .then(() => orAfter(LONGEST_START_MS, [this.loadScripts(), this.check(onEviction, recheckMs)]))
      .then(() => {
        this.connecting = undefined
      })
  }

  /**
   * Loads the scripts beforehand, so that no decision waits for a connection: a cluster's client connects to most nodes
   * only when needed.
   */
  private async loadScripts(): Promise<void> {
    const { link, scripts } = this.settings
    // A user who may not load a script may still be allowed to run it. The first call will tell.
    await Promise.allSettled(Object.values(scripts).map(async ({ text }: Script) => link.load(text)))
  }

  private async check(onEviction: (policy: string) => void, recheckMs: number): Promise<void> {
    const { unfit, evicts } = await checkServer(this.settings.link)
    this.unfit = unfit
    if (evicts !== undefined) onEviction(evicts)
    await this.probe(0).catch(() => undefined) // the next decision reports it
    if (this.closed) return
    this.cancelCheck = afterUnref(systemClock, recheckMs, () => void this.check(onEviction, recheckMs))
  }

  instances(id: string, rememberTicks: number): Promise<number> {
    return this.shard(0).instances(id, rememberTicks)
  }

  ask(question: Question): void {
    const { charges } = question
    if (charges.length > MOST_CHARGES) {
      throw expected('SLUICE_NOT_SUPPORTED', `at most ${MOST_CHARGES} limits a decision in Redis`, charges.length)
    }
    if (charges.length === 0 || this.unusable(charges)) question.done()
    else if (this.isTogether(charges)) this.askTogether(question)
    else void this.askAcross(charges, question.intent).then(() => question.done())
  }

  /** Decides over several slots of a cluster, one after another. */
  private async askAcross(charges: readonly Charge[], intent: Intent): Promise<void> {
    await decideAcross(charges, intent, this.slots)
    // One decision has one time: that of its last reply.
    const at = Math.max(...charges.map(charge => charge.at))
    for (const charge of charges) if (isDecided(charge)) charge.at = at
  }

  private isTogether(charges: readonly Charge[]): boolean {
    if (charges.length === 1 || !this.settings.link.isCluster) return true
    const first = this.shardOf(charges[0]!)
    return charges.every(charge => this.shardOf(charge) === first)
  }

  private askTogether(question: Question): void {
    const shard = this.shard(this.shardOf(question.charges[0]!))
    shard.ask(this.heartbeat === undefined ? question : this.heartbeat.watching(question))
  }

  async amend(changes: readonly Change[]): Promise<number[]> {
    if (this.unfit !== undefined) throw this.unfit
    return Promise.all(changes.map(change => this.shard(this.shardOf(change.charge)).amend(change)))
  }

  /** If the refund fails, what was taken drains by itself. */
  private async giveBack(taken: readonly Charge[]): Promise<void> {
    try {
      await this.amend(taken.map(charge => ({ type: 'refund', charge })))
    } catch {
      for (const charge of taken) charge.receipt = 0
    }
  }

  async inspect(charge: Charge): Promise<KeyInspection> {
    if (this.unfit !== undefined) throw this.unfit
    try {
      return await this.shard(this.shardOf(charge)).inspect(charge)
    } catch (error) {
      throw failureOf(error)
    }
  }

  async probe(shard: number): Promise<void> {
    if (this.unfit !== undefined) throw this.unfit
    if (!this.settings.link.isReady())
      throw new StoreUnavailable('SLUICE_STORE_UNREACHABLE', 'the client is not connected')
    try {
      await this.shard(shard).probe()
    } catch (error) {
      throw failureOf(error)
    }
  }

  /** Does not close the client, which belongs to the user. */
  async close(): Promise<void> {
    this.closed = true
    this.cancelCheck?.()
    this.heartbeat?.stop()
  }

  private unusable(charges: readonly Charge[]): boolean {
    const fault = this.closed ? new StoreUnavailable('SLUICE_CLOSED', 'the store was used after close()') : this.unfit
    if (fault === undefined) return false
    for (const charge of charges) charge.fault ??= fault
    return true
  }

  private shard(tag: number): RedisShard {
    this.shards[tag] ??= new RedisShard(tag, this.settings, this.counters, this.scheduler, this.shards[0])
    return this.shards[tag]
  }
}

/** Resolves when all have ended, or after this time. */
function orAfter(ms: number, work: readonly Promise<void>[]): Promise<void> {
  return new Promise(resolve => {
    const cancel = after(systemClock, ms, resolve)
    void Promise.all(work).then(() => {
      cancel()
      resolve()
    })
  })
}
