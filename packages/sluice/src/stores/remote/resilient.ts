import { type Clock, systemClock } from '../../clock.ts'
import { StoreUnavailable } from '../../errors.ts'
import { Charge } from '../charge.ts'
import type { KeyInspection } from '../inspection.ts'
import type { Space } from '../limit.ts'
import type { Change, Question, Store } from '../store.ts'
import { Breaker } from './breaker.ts'
import { Deadlines } from './deadlines.ts'
import { FirstConnection } from './first-connection.ts'
import { PromptAnswers } from './prompt-answers.ts'
import type { Network, StoreEvent } from './remote-store.ts'
import { TimedCalls } from './timed-calls.ts'

export interface ResilientOptions {
  /** How long an answer may take. 25 by default. */
  deadlineMs?: number
  /** How long calls wait for the first connection instead. 1000 by default. */
  connectWaitMs?: number
  onEvent?: ((event: StoreEvent) => void) | undefined
  /** The clock of deadlines and probes. */
  clock?: Clock
  /** From 0 to 1: spreads the probes. */
  random?: () => number
}

export interface ResilientStore extends Store<'async'> {
  /** Charges not answered in time. The store may have taken them all the same. */
  readonly timeouts: number
  /** How many shards are not asked at the moment. */
  readonly open: number
}

/**
 * Turns a slow or broken store into prompt faults: an outage costs at most the deadline, and nothing once the breaker
 * of its shard is open.
 */
export function resilient(inner: Store<'async'>, network: Network, options: ResilientOptions = {}): ResilientStore {
  return new Resilient(inner, network, options)
}

class Resilient implements ResilientStore {
  readonly mode = 'async'
  readonly clock: Clock
  open = 0
  private readonly inner: Store<'async'>
  private readonly network: Network
  private readonly calls: TimedCalls
  private readonly connection: FirstConnection
  /** By shard. */
  private readonly breakers: Breaker[] = []
  private readonly prompt = new PromptAnswers()
  private readonly newBreaker: (shard: number) => Breaker

  constructor(inner: Store<'async'>, network: Network, options: ResilientOptions) {
    const { deadlineMs = 25, connectWaitMs = 1000, onEvent, clock = systemClock, random = Math.random } = options
    this.inner = inner
    this.network = network
    this.clock = inner.clock
    const deadlines = new Deadlines(clock, deadlineMs, callback => network.atDeparture(callback))
    this.calls = new TimedCalls(deadlines, charge => this.breakerOf(charge))
    this.connection = new FirstConnection(network, clock, connectWaitMs)
    const probe = (shard: number) => this.calls.inTime([], network.probe(shard))
    const changed = (event: StoreEvent) => {
      this.open += event.type === 'outage' ? 1 : -1
      // Called later: a hook that throws must not keep callers from their answers.
      if (onEvent !== undefined) queueMicrotask(() => onEvent(event))
    }
    this.newBreaker = shard => new Breaker(shard, { clock, random, probe, changed })
  }

  get timeouts(): number {
    return this.calls.timeouts
  }

  bind(path: string): Space {
    return this.inner.bind(path)
  }

  ask(question: Question): void {
    if (this.isCalm) this.calls.decide(this.inner, question)
    else void this.askWarily(question).then(() => question.done())
  }

  amend(changes: readonly Change[]): Promise<number[]> {
    return this.isCalm ? this.amendNow(changes) : this.amendWarily(changes)
  }

  inspect(charge: Charge): Promise<KeyInspection> {
    const ask = () => this.calls.inTime([charge], this.inner.inspect(charge))
    return this.isCalm ? ask() : this.reached(charge).then(ask)
  }

  async close(): Promise<void> {
    for (const breaker of this.breakers) breaker?.stop() // there may be gaps
    this.connection.cancel()
    this.calls.close()
    await this.inner.close()
  }

  /** Every shard may be asked. */
  private get isCalm(): boolean {
    return this.open === 0 && this.network.connecting === undefined
  }

  private async askWarily({ charges, intent }: Question): Promise<void> {
    await this.connected(charges)
    const reachable = charges.filter(charge => {
      const refusal = this.refusalOf(charge)
      if (refusal !== undefined) charge.fault = refusal
      return refusal === undefined
    })
    if (reachable.length === 0) return this.prompt.answer()
    // If some charges are left out, indexes change. A shadow's role is an index, so a copy has the new one.
    const sent = reachable.map(charge => (charge.role < 0 ? charge : asBesideShadow(charge, charges, reachable)))
    await new Promise<void>(done => this.calls.decide(this.inner, { charges: sent, intent, done }))
    for (const [i, charge] of reachable.entries()) if (sent[i] !== charge) charge.decideAs(sent[i]!)
  }

  private amendNow(changes: readonly Change[]): Promise<number[]> {
    const charges = changes.map(({ charge }) => charge)
    return this.calls.inTime(charges, this.inner.amend(changes))
  }

  private async amendWarily(changes: readonly Change[]): Promise<number[]> {
    await this.connected(changes.map(({ charge }) => charge))
    const refusals = changes.map(({ charge }) => this.refusalOf(charge))
    // The reachable part is carried out: the outage of one shard does not stop a refund in another.
    const sent = changes.filter((_, i) => refusals[i] === undefined)
    const amounts = sent.length === 0 ? [] : await this.amendNow(sent)
    if (sent.length < changes.length) throw refusals.find(refusal => refusal !== undefined)
    return amounts
  }

  private async reached(charge: Charge): Promise<void> {
    await this.connected([charge])
    const refusal = this.refusalOf(charge)
    if (refusal !== undefined) throw refusal
  }

  /** Waits for the first connection. If that takes too long, the breakers of these charges open. */
  private async connected(charges: readonly Charge[]): Promise<void> {
    if (this.network.connecting === undefined) return
    const waiting = charges.filter(charge => this.refusalOf(charge) === undefined)
    if (waiting.length === 0 || (await this.connection.stands())) return
    const error = new StoreUnavailable('SLUICE_STORE_UNREACHABLE', 'there is no connection to the store yet')
    for (const charge of waiting) this.breakerOf(charge).open(error)
  }

  /** Why the shard of a charge must not be asked; undefined if it may. */
  private refusalOf(charge: Charge): StoreUnavailable | undefined {
    return this.breakerOf(charge).reason
  }

  private breakerOf(charge: Charge): Breaker {
    const shard = this.network.shardOf(charge)
    this.breakers[shard] ??= this.newBreaker(shard)
    return this.breakers[shard]
  }
}

/** A copy of a shadow with the index among the sent charges as its role. `BESIDE` if the replaced limit is not sent. */
function asBesideShadow(shadow: Charge, all: readonly Charge[], sent: readonly Charge[]): Charge {
  const { limit, rule, key, cost, role } = shadow
  return new Charge(limit, rule, key, cost, sent.indexOf(all[role]!)) // -1 is BESIDE
}
