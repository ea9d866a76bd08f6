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

/** Makes a guard to pass to `rateLimit` in place of options, so that adapters share it or the user changes it later. */
export function createGuard<R = RequestView>(options: GuardOptions<R>): Guard {
  // `R` is the request type of the user's functions. The adapter makes a view of that type for each request.
  const guard = new Guard(options as GuardOptions<never> as GuardOptions)
  guard.noticeOrigin()
  return guard
}

/** The guard made last, and how many guards in a row were asked exactly once before the next guard was made. */
let lastMade: Guard | undefined
let askedOnce = 0
const MANY_GUARDS = 10

/** Turns a request of any framework into an outcome: finds keys and costs, decides, and builds the response fields. */
export class Guard {
  /** Decides the limits. Its `shadows` report what would change if the shadow limits were enforced. */
  readonly limiter: GuardLimiter
  private readonly settings: GuardSettings
  private readonly ownStore: boolean
  /** The name must not be `limits`: adapters accept options or a guard, and TypeScript infers `r` from both. */
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
  /** How often the guard was asked; 2 means two or more. */
  private timesAsked = 0
  /** How many further requests to check for an ignored forwarding header. Behind a proxy the first one has it. */
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

  /** Decides a request. Undefined if no limit applies: the request then goes on as if there were no guard. */
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

  /** The guard for one route, whose own options set the cost, add limits or replace limits of the same name. */
  for(route: string, own: Route): Guard {
    return this.routes.get(route, own)
  }

  /** The kill switch: sets the mode of one limit or of all limits. `undefined` restores the configured modes. */
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

  /** Whether the guard or one of its routes has the limit; true if no limit is named. */
  has(limit: string | undefined): boolean {
    return limit === undefined || this.finder.has(limit) || this.routes.have(limit)
  }

  /** Forgets what is counted for a key. */
  reset(target: OperatorTarget): Maybe<void> {
    return inTurn(this.find('reset', target), state => state.limiter.reset(state.subject, { limits: [state.limit] }))
  }

  /** Refuses a key for the given time. */
  block(target: OperatorTarget & { for: Duration | 'forever' }): Maybe<void> {
    return inTurn(this.find('block', target, ['for']), ({ limiter, limit, subject }) =>
      limiter.block(subject, { limit, for: target.for }),
    )
  }

  unblock(target: OperatorTarget): Maybe<void> {
    return inTurn(this.find('unblock', target), ({ limiter, limit, subject }) => limiter.unblock(subject, { limit }))
  }

  /** Charges a key without refusal, until the limit is overdrawn by one whole limit. */
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

  /** What the store keeps for a key, as data. */
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

  /**
   * Warns if guards are made inside a request handler: each is then asked once, and the next request makes the next.
   */
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
