import { Charge, type OnOutage, type Rule, type Space, type Store } from 'sluice'
import type { Integer } from '../integer.ts'
import { decideLong, HORIZON } from './cell.ts'
import { memoryThrottle } from './memory-throttle.ts'
import type { Throttle, ThrottleRequest, ThrottleVerdict } from './throttle.ts'

export interface StoreThrottleOptions {
  /** What decides while the store is away: `'local'` by default, which enforces a share of the limit in this process. */
  onOutage?: Extract<OnOutage, string>
}

/**
 * CL.THROTTLE over a remote store of the library, such as Redis: one limit for many processes, with its batching, deadline
 * and breaker.
 *
 * A bucket of the library counts time here: each nanosecond is a request of cost 1 and drains in a nanosecond. So the level
 * is how far the theoretical arrival time lies ahead, every key has the same rate, and a key that comes back with other
 * parameters keeps its time. This is exact up to 104 days ahead; beyond that a double resolves 512 ns at worst.
 */
export function storeThrottle(store: Store, { onOutage = 'local' }: StoreThrottleOptions = {}): Throttle {
  return new StoreThrottle(store, onOutage)
}

const NS_PER_TICK = 1000
const NS_PER_MS = 1e6
const TAKE = { take: true, holdTicks: 0, bookTicks: -1, strikes: true }
const LOOK = { ...TAKE, take: false, strikes: false }
const MOST_RULES = 1000

class StoreThrottle implements Throttle {
  private readonly store: Store
  private readonly onOutage: string
  private readonly space: Space
  private readonly local: Throttle
  /** Rules by tolerance. Clients send the limits with every call, but use few different ones. */
  private readonly rules = new Map<number, Rule>()

  constructor(store: Store, onOutage: string) {
    this.store = store
    this.onOutage = onOutage
    this.space = store.bind('sluice:cl-throttle')
    this.local = memoryThrottle({ clock: store.clock })
  }

  async decide(ask: ThrottleRequest, verdict: ThrottleVerdict): Promise<void> {
    // Read now: the request and its bytes are used again for the next command.
    const { interval, limit, quantity } = ask
    const key = ask.bytes.toString('latin1', ask.start, ask.end)
    const charge = this.chargeOf(
      key,
      nanoseconds(interval, quantity),
      Math.min(nanoseconds(interval, limit), Number(HORIZON)),
    )
    await this.ask(charge, quantity > 0)
    if (charge.fault !== undefined) return this.decideAlone(key, { interval, limit, quantity }, verdict)
    const ahead = charge.taken ? charge.used - charge.cost : charge.used
    const before = BigInt(Math.round(ahead))
    const after = decideLong(before, BigInt(interval), BigInt(limit), BigInt(quantity), verdict)
    // Giving back is refused, and changes nothing, if the key is further ahead than its new limit allows.
    if (after < before) await this.store.amend([{ type: 'credit', charge: this.chargeOf(key, Number(before - after)) }])
  }

  async forget(bytes: Buffer, start: number, end: number): Promise<boolean> {
    const charge = this.chargeOf(bytes.toString('latin1', start, end))
    await this.askOrThrow(charge)
    await this.store.amend([{ type: 'reset', charge }])
    return charge.used > 0
  }

  async left(bytes: Buffer, start: number, end: number): Promise<number> {
    const charge = this.chargeOf(bytes.toString('latin1', start, end))
    await this.askOrThrow(charge)
    return charge.used / NS_PER_MS
  }

  /** The state is in the store, which keeps its own counts. */
  stats(): undefined {}

  private ask(charge: Charge, take: boolean): Promise<void> {
    return new Promise(done => this.store.ask({ charges: [charge], intent: take ? TAKE : LOOK, done }))
  }

  private async askOrThrow(charge: Charge): Promise<void> {
    await this.ask(charge, false)
    if (charge.fault !== undefined) throw charge.fault
  }

  private chargeOf(key: string, cost = 0, tolerance = 1): Charge {
    const limit = { space: this.space, block: undefined, atOnce: true }
    return new Charge(limit, this.ruleOf(tolerance), key, cost, ENFORCED)
  }

  private ruleOf(tolerance: number): Rule {
    let rule = this.rules.get(tolerance)
    if (rule === undefined) {
      if (this.rules.size >= MOST_RULES) this.rules.clear()
      rule = {
        kind: 'bucket',
        policy: { kind: 'gcra', rate: { count: NS_PER_TICK, periodMs: 0.001 }, burst: tolerance },
        limit: tolerance,
        perRequest: 1,
        perTick: NS_PER_TICK,
        full: tolerance,
        queue: false,
        shape: 'bucket 1000/1',
      }
      this.rules.set(tolerance, rule)
    }
    return rule
  }

  /** While the store is away. */
  private decideAlone(key: string, amounts: RateAmounts, verdict: ThrottleVerdict): void {
    const bytes = Buffer.from(key, 'latin1')
    const { localShare } = this.space
    const { interval, limit, quantity } = amounts
    const share = {
      interval: BigInt(Math.ceil(Number(interval) / localShare)),
      limit: limit > 0 ? BigInt(Math.ceil(Number(limit) * localShare)) : limit,
    }
    const isLocal = this.onOutage === 'local'
    this.local.decide({ bytes, start: 0, end: bytes.length, quantity, ...(isLocal ? share : amounts) }, verdict)
    verdict.limit = limit
    if (!isLocal) verdict.limited = this.onOutage === 'closed'
  }
}

type RateAmounts = Pick<ThrottleRequest, 'interval' | 'limit' | 'quantity'>

/** `Charge.role` of a charge that must pass. */
const ENFORCED = -2

/** A limit or a quantity as time, never less than 0: giving back is a separate call. */
function nanoseconds(interval: Integer, times: Integer): number {
  const product = BigInt(interval) * BigInt(times)
  // A cost above the horizon never passes. Twice the horizon is above it and still short enough to be sent in digits.
  if (product > HORIZON) return 2 * Number(HORIZON)
  return product > 0n ? Number(product) : 0
}
