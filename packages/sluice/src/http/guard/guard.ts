import { brand } from '../../brand.ts'
import type { Decision, LimitState } from '../../decision.ts'
import type { Duration } from '../../duration.ts'
import { noticed } from '../../limiter/create.ts'
import type { LimitInspection } from '../../limiter/inspection.ts'
import { encodeKey } from '../../limiter/key.ts'
import { type LayerNames, splitLayers } from '../../limiter/layers.ts'
import type { LimiterOptions } from '../../limiter/limiter.ts'
import type { LimitMode, LimitOptions } from '../../limiter/limits.ts'
import { NamedLimiter } from '../../limiter/named-limiter.ts'
import { storeFor } from '../../limiter/options.ts'
import { andThen, type Maybe } from '../../maybe.ts'
import { AccessLists } from '../address/access-lists.ts'
import { type Reader, RequestFacts, type RequestView } from '../request/request-facts.ts'
import { type Site, siteOf } from '../request/request-reading.ts'
import { hashOf } from '../request/sha256.ts'
import { DENIED } from '../response/refusal.ts'
import type { GuardLimiter } from './after-response.ts'
import { type GuardLimit, setsAside } from './guard-limit.ts'
import { checkGuardOptions, type GuardEvent, type GuardOptions, type GuardSettings } from './guard-options.ts'
import {
  finderFor,
  inTurn,
  type OperatorTarget,
  oneEach,
  onlyOne,
  TargetFinder,
  type TargetState,
} from './operators.ts'
import type { Outcome } from './outcome.ts'
import { type Preflights, preflightsOf } from './preflights.ts'
import { Reporter } from './reporter.ts'
import { RequestDecider } from './request-decider.ts'
import { Responder } from './responder.ts'
import { type Route, RouteGuards, withRoute } from './route-guards.ts'
import { safeLimits, skipFunction } from './safe-limit.ts'

/** `rateLimit` of every adapter takes a guard in place of its options: to share one, or to change it while it runs. */
export function createGuard<R = RequestView>(options: GuardOptions<R>): Guard {
  // `R` is what the user says the requests are. The adapter makes its view of each for them.
  const guard = new Guard(options as GuardOptions<never> as GuardOptions)
  guard.noticeOrigin()
  return guard
}

/** The guard that was made last, and how many in a row were asked exactly once before the next was made. */
let lastMade: Guard | undefined
let askedOnce = 0
const MANY_GUARDS = 10

/** Takes a request of any framework to its outcome: who asks, what it costs, one decision, the answer. */
export class Guard {
  /** What the limits are decided by: `shadows` says what enforcing the shadows would change. */
  readonly limiter: GuardLimiter
  private readonly settings: GuardSettings
  private readonly ownStore: boolean
  /** Not named `limits`: adapters take options or a guard, and the types of `r` in a user's functions come from both. */
  private readonly bound: Readonly<Record<string, LimitOptions<RequestFacts, 'sync' | 'async'>>>
  private readonly layers: LayerNames
  private readonly site: Site
  private readonly lists: AccessLists
  private readonly preflights: Preflights | undefined
  private readonly reporter: Reporter
  private readonly decider: RequestDecider
  private readonly responder: Responder
  private readonly routes: RouteGuards<Guard>
  private readonly finder: TargetFinder
  private off = false
  /** 2 for more often than once. */
  private timesAsked = 0
  /** So many further requests are looked at. Behind a proxy the first one has the header. */
  private looksForForwarding = 100

  constructor(options: GuardOptions, isForRoute = false) {
    const { settings, limits: given, lookupMs } = checkGuardOptions(options)
    const { limits, layers } = splitLayers<GuardLimit>(given)
    this.layers = layers
    const { name = 'default', prefix = 'sluice', onDecision, skip } = settings
    this.ownStore = settings.store === undefined
    this.routes = new RouteGuards((route, own) => new Guard(withRoute(this.settings, given, route, own), true))
    const reporter = new Reporter(settings)
    this.reporter = reporter
    const onEvent = (event: GuardEvent) => reporter.event(event)
    const store = storeFor<RequestFacts>({ ...settings, onEvent } as LimiterOptions<RequestFacts>, name)
    const { clock } = store
    this.settings = { ...settings, store }
    this.site = siteOf(settings, (code, message) => reporter.warn(code, message))
    this.lists = new AccessLists(settings)
    const context = { reporter, time: { clock, deadlineMs: lookupMs } }
    const safe = safeLimits(limits, context)
    this.bound = Object.fromEntries(safe.map(limit => [limit.name, limit.options]))
    const tellDecision = (decision: Decision, facts: RequestFacts) => reporter.decision(decision, facts)
    const limiter = new NamedLimiter<RequestFacts>(
      { name, prefix, store, onEvent, ...(onDecision !== undefined && { onDecision: tellDecision }) },
      this.bound,
      false,
      (_, call) => call,
    )
    this.limiter = limiter
    if (!isForRoute) noticed(limiter)
    this.finder = new TargetFinder(limiter, limits, layers, this.site)
    this.preflights = preflightsOf(settings.preflight, clock)
    const reserves = Object.values(limits).some(limit => limit.resetWhen !== undefined || setsAside(limit))
    this.decider = new RequestDecider(limiter, skip && skipFunction(skip, context), reserves)
    const bucketId = (bucket: readonly string[]) => hashOf(encodeKey([prefix, name, ...bucket], name)).slice(0, 16)
    this.responder = new Responder({ settings, limits, limiter, clock, reporter, reserves, bucketId })
    if (!isForRoute) reporter.warnOf(this.settings, limits)
  }

  /** What becomes of a request; undefined where no limit concerns it, and it goes on as if there were no guard. */
  ask<Raw, Reply>(raw: Raw, reply: Reply, reader: Reader<Raw, Reply>): Maybe<Outcome | undefined> {
    const facts = new RequestFacts(raw, reader as Reader<unknown, never>, this.site)
    if (this.timesAsked < 2) this.timesAsked++
    if (this.looksForForwarding > 0) this.lookForForwarding(facts, reader.ownTrust?.(raw))
    const listed = this.lists.isEmpty ? undefined : this.lists.of(facts.wholeIp)
    const { decider, responder, preflights } = this
    if (listed !== undefined || this.off) return listed === 'denied' ? responder.refusedBy(DENIED) : undefined
    if (preflights !== undefined && facts.isPreflight) {
      return decider.skipsAtOnce(facts) ? undefined : this.askPreflight(preflights, facts)
    }
    return decider.decide(facts, (decision, reservation) =>
      responder.answer(decision, reservation, facts, reply, reader),
    )
  }

  /** The same guard for one route: other costs, further limits, or others in place of those of the same name. */
  for(route: string, own: Route): Guard {
    return this.routes.get(route, own)
  }

  /** The kill switch: of one limit, or of all of them. Without a mode they are again as they were configured. */
  setMode(mode: LimitMode | undefined, limit?: string): void {
    const isOfRoutes = limit !== undefined && !this.finder.has(limit) && this.routes.have(limit)
    const own = limit === undefined ? Object.keys(this.bound) : (this.layers.get(limit) ?? [limit])
    const names = isOfRoutes ? [] : own
    for (const name of names) {
      const next = mode ?? this.bound[name]?.mode ?? 'enforce'
      this.limiter.setMode(name, next)
    }
    this.off = limit === undefined && mode === 'off'
    this.routes.setMode(mode, limit)
  }

  /** Whether the guard or one of its routes has the limit; all of them, where none is named. */
  has(limit: string | undefined): boolean {
    return limit === undefined || this.finder.has(limit) || this.routes.have(limit)
  }

  /** Forgets what is counted for a key. */
  reset(target: OperatorTarget): Maybe<void> {
    return inTurn(this.find('reset', target), state => state.limiter.reset(state.subject, { limits: [state.limit] }))
  }

  /** Refuses a key for so long. */
  block(target: OperatorTarget & { for: Duration | 'forever' }): Maybe<void> {
    return inTurn(this.find('block', target, ['for']), ({ limiter, limit, subject }) =>
      limiter.block(subject, { limit, for: target.for }),
    )
  }

  unblock(target: OperatorTarget): Maybe<void> {
    return inTurn(this.find('unblock', target), ({ limiter, limit, subject }) => limiter.unblock(subject, { limit }))
  }

  /** Charges a key without refusal, at most one limit over. */
  penalize(target: OperatorTarget & { cost: number }): Maybe<void> {
    return inTurn(oneEach('penalize', this.find('penalize', target, ['cost'])), ({ limiter, subject }) =>
      limiter.penalize(subject, { cost: target.cost }),
    )
  }

  /** Sets how much is left for a key. */
  set(target: OperatorTarget & { remaining: number }): Maybe<void> {
    const { limiter, limit, subject } = onlyOne('set', target, this.find('set', target, ['remaining']))
    return limiter.set(subject, { limit, remaining: target.remaining })
  }

  /** How the limit stands for a key, and whether a cost would pass; undefined if it is off. Takes nothing. */
  peek(target: OperatorTarget & { cost?: number }): Maybe<LimitState | undefined> {
    const { limiter, limit, subject } = onlyOne('peek', target, this.find('peek', target, ['cost']))
    const decision: Maybe<Decision> = limiter.peek(subject, { cost: target.cost ?? 1 })
    return andThen(decision, ({ limits }) => limits.find(({ name }) => name === limit))
  }

  /** What is kept of a key, as data. */
  inspect(target: OperatorTarget): Maybe<LimitInspection> {
    const { limiter, limit, subject } = onlyOne('inspect', target, this.find('inspect', target))
    const found = limiter.inspect(subject, { limits: [limit] })
    return andThen(found, ([state]) => state!)
  }

  close(): Maybe<void> {
    this.routes.close()
    this.preflights?.close()
    const closed = this.limiter.close()
    return this.ownStore ? this.settings.store!.close() : closed
  }

  /** A guard that is made inside a request handler is asked once, and the next one is made for the next request. */
  noticeOrigin(): void {
    askedOnce = lastMade?.timesAsked === 1 ? askedOnce + 1 : 0
    lastMade = this
    if (askedOnce < MANY_GUARDS) return
    askedOnce = 0
    this.reporter.warn('SLUICE_MANY_GUARDS', MADE_IN_HANDLER)
  }

  private lookForForwarding(facts: RequestFacts, ownTrust: string | undefined): void {
    this.looksForForwarding--
    const isOwn = ownTrust !== undefined && this.site.trustsNobody
    if (!isOwn && !facts.isForwardingIgnored) return
    this.looksForForwarding = 0
    this.reporter.warn('SLUICE_UNTRUSTED_FORWARDING', isOwn ? ownTrust : UNTRUSTED)
  }

  private askPreflight(preflights: Preflights, facts: RequestFacts): Outcome | undefined {
    const decision = preflights.decide(facts)
    this.reporter.decision(decision, facts)
    return this.responder.answerPreflight(decision, facts)
  }

  private find(call: string, target: OperatorTarget, further: readonly string[] = []): TargetState[] {
    const ofRoutes = (limit: string, route: string | undefined) =>
      this.routes.having(limit, route).map(([name, { finder }]) => [name, finder] as const)
    return finderFor(call, target, this.finder, ofRoutes).find(call, target, further)
  }
}
brand('Guard', Guard)

const MADE_IN_HANDLER =
  'each guard is asked once before the next is made, so nothing is limited; call rateLimit() outside of the handler'
const UNTRUSTED =
  'X-Forwarded-For arrives from a peer that is not trusted, so all behind that peer are one client; if it is your proxy, set trustProxy'
