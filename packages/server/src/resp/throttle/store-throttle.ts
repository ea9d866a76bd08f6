import { createLimiter, type Decision, type GcraPolicy, gcra, type Limiter, type OnOutage, type Store } from 'sluice'
import { CommandError } from '../commands/command.ts'
import type { Integer } from '../integer.ts'
import type { Throttle, ThrottleRequest, ThrottleVerdict } from './throttle.ts'

export interface StoreThrottleOptions {
  /** What decides while the store cannot: `'local'` by default. */
  onOutage?: OnOutage
}

/** A key as text of one code unit a byte, and the limit that this call names. */
interface Subject {
  readonly key: string
  readonly policy: GcraPolicy
}

type AnyMode = 'sync' | 'async'

/**
 * CL.THROTTLE over a store of the library, such as Redis: one limit for many processes, with its batching, deadline and
 * outage policy.
 *
 * The replies are those of `memoryThrottle` while a key is asked for under one rate. Under another it brings along the
 * requests it has used rather than the time, as everywhere in the library. Times are rounded up to a microsecond before
 * they become seconds. Buckets that take longer than 17 years to drain are cut to that.
 */
export function storeThrottle(store: Store<AnyMode>, { onOutage = 'local' }: StoreThrottleOptions = {}): Throttle {
  const limiter = createLimiter<Subject, AnyMode>({
    name: 'cl-throttle',
    store,
    limits: { throttle: { policy: subject => subject.policy, key: subject => subject.key, onOutage } },
  })
  return new StoreThrottle(limiter)
}

const NS_PER_US = 1000n
const SHORTEST_NS = 1000n
const LONGEST_US = 366 * 86_400 * 1_000_000
/** Bounds of a bucket in the library: how much it holds, and how long it takes to drain. */
const LARGEST_BURST = 2 ** 48
const LONGEST_DRAIN_US = 2 ** 49
const MOST_POLICIES = 1000

/** For what concerns a key whatever its limit. */
const ANY = gcra({ rate: '1/s', burst: 1 })

class StoreThrottle implements Throttle {
  private readonly limiter: Limiter<Subject, AnyMode>
  /** A client names its limits with every call, but they are few. */
  private readonly policies = new Map<string, GcraPolicy>()

  constructor(limiter: Limiter<Subject, AnyMode>) {
    this.limiter = limiter
  }

  async decide(
    { bytes, start, end, interval, limit, quantity }: ThrottleRequest,
    verdict: ThrottleVerdict,
  ): Promise<void> {
    const subject = { key: bytes.toString('latin1', start, end), policy: this.policyFor(interval, limit) }
    const decision = await this.ask(subject, Number(quantity))
    fill(verdict, decision, limit)
  }

  async forget(bytes: Buffer, start: number, end: number): Promise<boolean> {
    // Read now: the bytes are used again for the next command.
    const subject = { key: bytes.toString('latin1', start, end), policy: ANY }
    const { resetAfterMs } = await this.limiter.peek(subject, { cost: 0 })
    await this.limiter.reset(subject)
    return resetAfterMs > 0
  }

  async left(bytes: Buffer, start: number, end: number): Promise<number> {
    const subject = { key: bytes.toString('latin1', start, end), policy: ANY }
    return (await this.limiter.peek(subject, { cost: 0 })).resetAfterMs
  }

  /** The state is the store's, which counts for itself. */
  stats(): undefined {}

  private async ask(subject: Subject, quantity: number): Promise<Decision> {
    const cost = Math.min(Math.abs(quantity), Number.MAX_SAFE_INTEGER)
    if (quantity > 0) return this.limiter.consume(subject, { cost })
    if (quantity < 0) await this.limiter.refund(subject, { cost })
    return this.limiter.peek(subject, { cost: 0 })
  }

  private policyFor(interval: Integer, limit: Integer): GcraPolicy {
    const name = `${interval} ${limit}`
    let policy = this.policies.get(name)
    if (policy === undefined) {
      policy = policyOf(BigInt(interval), Number(limit))
      if (this.policies.size >= MOST_POLICIES) this.policies.clear()
      this.policies.set(name, policy)
    }
    return policy
  }
}

function policyOf(interval: bigint, limit: number): GcraPolicy {
  if (interval < SHORTEST_NS) throw new CommandError('Cell error: More than 1000000 a second are not supported here')
  // In whole microseconds a request where it can be, else a thousand requests in so many: no part of a nanosecond is lost.
  const isWhole = interval % NS_PER_US === 0n
  const roundedUs = Number((interval + NS_PER_US - 1n) / NS_PER_US)
  if (roundedUs > LONGEST_US) throw new CommandError('Cell error: Less than 1 in 366 days is not supported here')
  const isExact = !isWhole && Number(interval) <= LONGEST_US
  const rate = { count: isExact ? 1000 : 1, periodMs: (isExact ? Number(interval) : roundedUs) / 1000 }
  const largest = Math.min(LARGEST_BURST, Math.floor(LONGEST_DRAIN_US / roundedUs))
  return gcra({ rate, burst: Math.min(Math.max(0, limit), largest) })
}

function fill(verdict: ThrottleVerdict, decision: Decision, limit: Integer): void {
  const { allowed, remaining, retryAfterMs, resetAfterMs } = decision
  verdict.limited = !allowed || limit < 0
  verdict.limit = limit
  verdict.remaining = Math.min(remaining, Number.MAX_SAFE_INTEGER)
  verdict.retryAfter = !allowed && Number.isFinite(retryAfterMs) ? seconds(retryAfterMs) : -1
  verdict.resetAfter = seconds(resetAfterMs)
}

/** Whole seconds; what is a millisecond or more beyond them counts as one. */
function seconds(ms: number): number {
  const us = Math.round(ms * 1000)
  const whole = Math.floor(us / 1e6)
  return us - whole * 1e6 >= 1000 ? whole + 1 : whole
}
