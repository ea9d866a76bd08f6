import type { Clock } from '../clock.ts'
import type { Decision, LimitState } from '../decision.ts'
import { createLimiter } from '../limiter/create.ts'
import { encodeKey } from '../limiter/key.ts'
import { isLaneDecision } from '../limiter/lane-decision.ts'
import type { LimiterOptions } from '../limiter/limiter.ts'
import type { LimitMode, LimitOptions } from '../limiter/limits.ts'
import type { Maybe } from '../limiter/maybe.ts'
import { storeFor } from '../limiter/options.ts'
import { type Policy, type PolicyLike, policyOf } from '../policy.ts'
import { Answering } from './answering.ts'
import { inTurn } from './delay.ts'
import { Facts, type Reader } from './facts.ts'
import { type AnyLimiter, type AnyReservation, Following, SET_ASIDE } from './following.ts'
import type { TellFallback } from './guard-event.ts'
import { type GuardLimit, LAST_RESORT, LONGEST_RESPONSE } from './guard-limit.ts'
import { type GuardOptions, limitsOf } from './guard-options.ts'
import { headerFamilies } from './headers.ts'
import { hashOf } from './identity.ts'
import { Lists } from './lists.ts'
import type { Outcome } from './outcome.ts'
import { type Plans, UnknownPlan } from './plans.ts'
import { changed, DENIED, GONE, type Refusal, refusalOf } from './refusal.ts'
import { type Route, withRoute } from './route-options.ts'
import { SafeLimit } from './safe-limit.ts'
import { type Site, siteOf } from './site.ts'
import { strictest } from './strictest.ts'

/** `rateLimit` of every adapter takes a guard in place of its options: to share one, or to change it while it runs. */
export function createGuard(options: GuardOptions): Guard {
  return new Guard(options)
}

/** From a request to what becomes of it, whatever the framework: who asks, what it costs, one decision, the answer. */
export class Guard {
  /** What the limits are decided by, for all that is not part of a request: `reset`, `block`, `shadows`. */
  readonly limiter: AnyLimiter
  private readonly options: GuardOptions
  private readonly limits: Readonly<Record<string, LimitOptions<Facts>>>
  private readonly site: Site
  private readonly lists: Lists
  private readonly answering: Answering
  private readonly following: Following
  private readonly clock: Clock
  /** Whether anything is to be done when a response has ended, and whether costs are only known then. */
  private readonly follows: boolean
  private readonly reserves: boolean
  private readonly ownStore: boolean
  private readonly routes = new Map<string, Guard>()
  private off = false

  constructor(options: GuardOptions) {
    const limits = limitsOf(options)
    const { name = 'default', prefix = 'sluice', onDecision, onEvent } = options
    this.ownStore = options.store === undefined
    const store = storeFor<Facts>(options as LimiterOptions<Facts>, name)
    this.options = { ...options, store }
    this.site = siteOf(options)
    this.lists = new Lists(options, error => this.fallback('', 'skip', 'false', error))
    this.limits = this.safeLimits(limits)
    this.limiter = createLimiter<Facts, 'sync' | 'async'>({
      name,
      prefix,
      store,
      limits: this.limits,
      ...(onDecision !== undefined && { onDecision: (decision, facts) => onDecision(decision, facts.seen) }),
      ...(onEvent !== undefined && { onEvent }),
    })
    const bucketId = (bucket: string) => hashOf(encodeKey([prefix, name, bucket], bucket)).slice(0, 16)
    this.answering = new Answering(limits, headerFamilies(options.headers), bucketId)
    this.clock = store.clock
    this.following = new Following(this.limiter, limits, this.clock, (...what) => this.fallback(...what))
    const all = Object.values(limits)
    this.reserves = all.some(limit => limit.countWhen ?? limit.resetWhen ?? limit.settle)
    this.follows = this.reserves || all.some(({ policy }) => typeof policy === 'function' || holdsSlots(policy))
  }

  /** What becomes of a request; undefined where no limit concerns it, and it goes on as if there were no guard. */
  ask<Raw, Reply>(raw: Raw, reply: Reply, reader: Reader<Raw, Reply>): Maybe<Outcome | undefined> {
    if (this.off) return undefined
    const facts = new Facts(raw, reader as Reader<unknown, never>, this.site)
    if (isPreflight(facts)) return undefined
    const listed = this.lists.isEmpty ? undefined : this.lists.of(facts)
    if (listed === 'denied') return refusedBy(DENIED)
    if (listed === 'allowed') return undefined
    if (this.reserves) return this.askAndReserve(facts, reply, reader)
    const decision = this.limiter.consume(facts)
    if (!(decision instanceof Promise)) return this.answer(decision, undefined, facts, reply, reader)
    return decision.then(made => this.answer(made, undefined, facts, reply, reader))
  }

  /** The same guard for one route: other costs, further limits, or others in place of those of the same name. */
  for(route: string, own: Route): Guard {
    let guard = this.routes.get(route)
    if (guard === undefined) {
      guard = new Guard(withRoute(this.options, limitsOf(this.options), route, own))
      this.routes.set(route, guard)
    }
    return guard
  }

  /** The kill switch: of one limit, or of all of them. Without a mode they are again as they were configured. */
  setMode(mode: LimitMode | undefined, limit?: string): void {
    const names = limit === undefined ? Object.keys(this.limits) : [limit]
    for (const name of names) this.limiter.setMode(name, mode ?? this.limits[name]?.mode ?? 'enforce')
    if (limit === undefined) this.off = mode === 'off'
    for (const guard of this.routes.values()) {
      if (limit === undefined || limit in guard.limits) guard.setMode(mode, limit)
    }
  }

  close(): Maybe<void> {
    const closed = this.limiter.close()
    return this.ownStore ? this.options.store!.close() : closed
  }

  private askAndReserve<Reply>(facts: Facts, reply: Reply, reader: Reader<never, Reply>): Maybe<Outcome | undefined> {
    const reservation = this.limiter.reserve(facts, { cost: SET_ASIDE, ttl: LONGEST_RESPONSE })
    const go = (held: AnyReservation) => this.answer(held.decision, held, facts, reply, reader)
    return reservation instanceof Promise ? reservation.then(go) : go(reservation)
  }

  private answer<Reply>(
    made: Decision,
    reservation: AnyReservation | undefined,
    facts: Facts,
    reply: Reply,
    reader: Reader<never, Reply>,
  ): Maybe<Outcome | undefined> {
    const decision = isLaneDecision(made) ? made.full : made // read more than once: worked out once
    const states = decision.limits
    if (states.length === 0) return undefined
    const { answering } = this
    const outcome: Outcome = {
      decision,
      fields: answering.fields(decision, states, facts),
      expose: facts.isCrossOrigin ? answering.exposed : undefined,
      refusal: decision.allowed ? undefined : this.refusal(decision, states, facts),
      ended: this.follows && decision.allowed ? this.following.after(decision, reservation, facts) : undefined,
      measures: this.reserves,
    }
    const delayMs = decision.allowed ? answering.delayMs(states, facts) : 0
    if (delayMs === 0) return outcome
    return inTurn(this.clock, delayMs, callback => reader.onClose(reply, callback)).then(here => {
      if (here) return outcome
      this.giveBack(decision, reservation)
      return refusedBy(GONE)
    })
  }

  private refusal(decision: Decision, states: readonly LimitState[], facts: Facts): Refusal {
    const { answering } = this
    const { refuse } = this.options
    const refusal = refusalOf(decision, name => answering.isShared(name), answering.isQuiet(states))
    if (refuse === undefined) return refusal
    try {
      return changed(refusal, parts => refuse(parts, decision, facts.seen))
    } catch (error) {
      this.fallback('', 'refuse', 'the usual refusal', error)
      return refusal
    }
  }

  /** A request that left the queue never was. */
  private giveBack(decision: Decision, reservation: AnyReservation | undefined): void {
    decision.release()
    const given = reservation === undefined ? this.limiter.refund(decision) : reservation.cancel()
    if (given instanceof Promise) given.catch(error => this.fallback('', 'delay', 'the slot as taken', error))
  }

  private safeLimits(limits: Readonly<Record<string, GuardLimit>>): Record<string, LimitOptions<Facts>> {
    const least = strictest(
      Object.values(limits)
        .map(knownPolicy)
        .filter(policy => policy !== undefined),
    )
    return Object.fromEntries(
      Object.entries(limits).map(([name, limit], index) => {
        const fallback = () => knownPolicy(limit) ?? least ?? LAST_RESORT
        const tell: TellFallback = (...what) => this.fallback(...what)
        return [name, new SafeLimit(name, index, limit, fallback, tell).options()]
      }),
    )
  }

  private fallback(limit: string, option: string, used: string, error: unknown): void {
    const { onEvent, name: limiter = 'default' } = this.options
    if (error instanceof UnknownPlan) onEvent?.({ type: 'unknown-plan', limiter, limit, plan: error.plan })
    else onEvent?.({ type: 'fallback', limiter, limit, option, used, error })
  }
}

/** What a limit falls back to: its policy, or of its plans the strictest. Of other functions nothing is known. */
function knownPolicy({ policy }: GuardLimit): Policy | undefined {
  return typeof policy === 'function' ? (policy as Partial<Plans>).strictest : policyOf(policy)
}

function holdsSlots(policy: PolicyLike): boolean {
  return policyOf(policy).kind === 'concurrency'
}

/** A browser asks on its own whether it may ask: that is no request of the caller's. */
function isPreflight(facts: Facts): boolean {
  return facts.method === 'OPTIONS' && facts.header('access-control-request-method') !== undefined
}

function refusedBy(refusal: Refusal): Outcome {
  return { decision: undefined, fields: [], expose: undefined, refusal, ended: undefined, measures: false }
}
