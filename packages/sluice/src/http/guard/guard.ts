import { brand } from '../../brand.ts'
import type { Clock } from '../../clock.ts'
import type { Decision, LimitState } from '../../decision.ts'
import type { Duration } from '../../duration.ts'
import { expected } from '../../errors.ts'
import { ChargedDecision } from '../../limiter/charged-decision.ts'
import { noticed } from '../../limiter/create.ts'
import type { LimitInspection } from '../../limiter/inspection.ts'
import { encodeKey } from '../../limiter/key.ts'
import { type LayerNames, splitLayers } from '../../limiter/layers.ts'
import type { LimiterOptions } from '../../limiter/limiter.ts'
import type { LimitMode, LimitOptions } from '../../limiter/limits.ts'
import { NamedLimiter } from '../../limiter/named-limiter.ts'
import { storeFor } from '../../limiter/options.ts'
import { andThen, type Maybe } from '../../maybe.ts'
import { type PolicyLike, policyOf } from '../../policy.ts'
import { hashOf } from '../request/identity.ts'
import { type Reader, RequestFacts, type RequestView } from '../request/request-facts.ts'
import { type Site, siteOf } from '../request/request-reading.ts'
import { changed } from '../response/changed-refusal.ts'
import { quoted } from '../response/headers/structured.ts'
import { headerFamilies } from '../response/headers.ts'
import { DENIED, GONE, type Refusal, refusalOf } from '../response/refusal.ts'
import { ResponseFields } from '../response/response-fields.ts'
import { AccessLists } from './access-lists.ts'
import { AfterResponse, type GuardLimiter, type GuardReservation, SET_ASIDE } from './after-response.ts'
import { yesOrNo } from './answered.ts'
import { keepDecision } from './decision-of.ts'
import { inTurn } from './delay.ts'
import type { GuardEvent } from './guard-event.ts'
import { type GuardLimit, LONGEST_RESPONSE, setsAside } from './guard-limit.ts'
import { checkGuardOptions, type GuardOptions, type GuardSettings } from './guard-options.ts'
import { type FinishLookups, Lookups } from './lookups.ts'
import { Operators, type OperatorTarget } from './operators.ts'
import type { Outcome } from './outcome.ts'
import { type Preflights, preflightsOf } from './preflights.ts'
import { Reporter } from './reporter.ts'
import { RouteGuards } from './route-guards.ts'
import { type Route, withRoute } from './route-options.ts'
import { type SafeLimit, safeLimits } from './safe-limit.ts'
import { UserFunction } from './user-function.ts'

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

/** From a request to what becomes of it, whatever the framework: who asks, what it costs, one decision, the answer. */
export class Guard {
  /** What the limits are decided by: `shadows` says what enforcing the shadows would change. */
  readonly limiter: GuardLimiter
  private readonly settings: GuardSettings
  private readonly safe: readonly SafeLimit[]
  private readonly lookups: Lookups
  /** The limits that are switched off: their functions are not asked. */
  private readonly offLimits = new Set<string>()
  /** Not named `limits`: adapters take options or a guard, and the types of `r` in a user's functions come from both. */
  private readonly bound: Readonly<Record<string, LimitOptions<RequestFacts, 'sync' | 'async'>>>
  private readonly layers: LayerNames
  private readonly site: Site
  private readonly lists: AccessLists
  private readonly preflights: Preflights | undefined
  private readonly reporter: Reporter
  private readonly responseFields: ResponseFields
  private readonly afterResponse: AfterResponse
  private readonly clock: Clock
  /** Whether anything is to be done when a response has ended, and whether costs are only known then. */
  private readonly follows: boolean
  private readonly reserves: boolean
  private readonly ownStore: boolean
  /** Empty where it has none. */
  private readonly fieldName: string
  private readonly routes: RouteGuards<Guard>
  private readonly operators: Operators
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
    this.fieldName = settings.name === undefined ? '' : quoted(settings.name).slice(1, -1)
    this.routes = new RouteGuards((route, own) => new Guard(withRoute(this.settings, given, route, own), true))
    this.reporter = new Reporter(settings)
    const onEvent = (event: GuardEvent) => this.reporter.event(event)
    const store = storeFor<RequestFacts>({ ...settings, onEvent } as LimiterOptions<RequestFacts>, name)
    this.settings = { ...settings, store }
    this.clock = store.clock
    this.site = siteOf(settings, (code, message) => this.reporter.warn(code, message))
    this.lists = new AccessLists(settings)
    const all = Object.values(limits)
    const context = { reporter: this.reporter, clock: this.clock, lookupMs }
    this.safe = safeLimits(limits, context)
    for (const [limit, { mode }] of Object.entries(limits)) if (mode === 'off') this.offLimits.add(limit)
    this.lookups = new Lookups(skip && this.skipFunction(skip, lookupMs), this.safe, limit => this.offLimits.has(limit))
    this.bound = Object.fromEntries(this.safe.map(limit => [limit.name, limit.options]))
    const tellDecision = (decision: Decision, facts: RequestFacts) => this.reporter.decision(decision, facts)
    const limiter = new NamedLimiter<RequestFacts>(
      { name, prefix, store, onEvent, ...(onDecision !== undefined && { onDecision: tellDecision }) },
      this.bound,
      false,
    )
    this.limiter = limiter
    this.operators = new Operators(this.limiter, limits, layers, this.safe, this.site)
    if (!isForRoute) noticed(limiter)
    const bucketId = (bucket: readonly string[]) => hashOf(encodeKey([prefix, name, ...bucket], name)).slice(0, 16)
    this.responseFields = new ResponseFields(
      limits,
      headerFamilies(settings.headers),
      bucketId,
      settings.partitionSecret,
    )
    this.preflights = preflightsOf(settings.preflight, store.clock)
    this.afterResponse = new AfterResponse(this.limiter, limits, this.clock, this.reporter)
    this.reserves = all.some(limit => limit.resetWhen !== undefined || setsAside(limit))
    if (!isForRoute) this.warnOf(limits)
    this.follows = this.reserves || all.some(({ policy }) => typeof policy === 'function' || holdsSlots(policy))
  }

  /** What becomes of a request; undefined where no limit concerns it, and it goes on as if there were no guard. */
  ask<Raw, Reply>(raw: Raw, reply: Reply, reader: Reader<Raw, Reply>): Maybe<Outcome | undefined> {
    const facts = new RequestFacts(raw, reader as Reader<unknown, never>, this.site)
    if (this.timesAsked < 2) this.timesAsked++
    if (this.looksForForwarding > 0) this.lookForForwarding(facts)
    const listed = this.lists.isEmpty ? undefined : this.lists.of(facts)
    if (listed !== undefined || this.off) return listed === 'denied' ? this.refusedBy(DENIED) : undefined
    const { lookups } = this
    if (this.preflights !== undefined && facts.isPreflight) {
      return lookups.skipsAtOnce(facts) ? undefined : this.askPreflight(this.preflights, facts)
    }
    const begun = lookups.isEmpty ? false : lookups.begin(facts)
    if (begun === true) return undefined
    return begun === false ? this.decide(facts, reply, reader) : this.decideLater(begun, facts, reply, reader)
  }

  /** The same guard for one route: other costs, further limits, or others in place of those of the same name. */
  for(route: string, own: Route): Guard {
    return this.routes.get(route, own)
  }

  /** The kill switch: of one limit, or of all of them. Without a mode they are again as they were configured. */
  setMode(mode: LimitMode | undefined, limit?: string): void {
    const isOfRoutes = limit !== undefined && !this.hasItself(limit) && this.routes.have(limit)
    const own = limit === undefined ? Object.keys(this.bound) : (this.layers.get(limit) ?? [limit])
    const names = isOfRoutes ? [] : own
    for (const name of names) {
      const next = mode ?? this.bound[name]?.mode ?? 'enforce'
      this.limiter.setMode(name, next)
      if (next === 'off') this.offLimits.add(name)
      else this.offLimits.delete(name)
    }
    this.off = limit === undefined && mode === 'off'
    this.routes.setMode(mode, limit)
  }

  /** Whether the guard or one of its routes has the limit; all of them, where none is named. */
  has(limit: string | undefined): boolean {
    return limit === undefined || this.hasItself(limit) || this.routes.have(limit)
  }

  private hasItself(limit: string): boolean {
    return Object.hasOwn(this.bound, limit) || this.layers.has(limit)
  }

  /** Forgets what is counted for a key. */
  reset(target: OperatorTarget): Maybe<void> {
    return this.operatorsFor('reset', target).reset(target)
  }

  /** Refuses a key for so long. */
  block(target: OperatorTarget & { for: Duration | 'forever' }): Maybe<void> {
    return this.operatorsFor('block', target).block(target)
  }

  unblock(target: OperatorTarget): Maybe<void> {
    return this.operatorsFor('unblock', target).unblock(target)
  }

  /** Charges a key without refusal, at most one limit over. */
  penalize(target: OperatorTarget & { cost: number }): Maybe<void> {
    return this.operatorsFor('penalize', target).penalize(target)
  }

  /** Sets how much is left for a key. */
  set(target: OperatorTarget & { remaining: number }): Maybe<void> {
    return this.operatorsFor('set', target).set(target)
  }

  /** How the limit stands for a key, and whether a cost would pass; undefined if it is off. Takes nothing. */
  peek(target: OperatorTarget & { cost?: number }): Maybe<LimitState | undefined> {
    return this.operatorsFor('peek', target).peek(target)
  }

  /** What is kept of a key, as data. */
  inspect(target: OperatorTarget): Maybe<LimitInspection> {
    return this.operatorsFor('inspect', target).inspect(target)
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

  private warnOf(limits: Readonly<Record<string, GuardLimit>>): void {
    const { settings, reporter } = this
    const host = globalThis as { Deno?: unknown; process?: { env?: Record<string, string | undefined> } }
    // Deno has no such workers, and asks for permission before it reads the environment.
    const isWorker = host.Deno === undefined && host.process?.env?.NODE_UNIQUE_ID !== undefined
    if (settings.store?.mode === 'sync' && isWorker) reporter.warn('SLUICE_MEMORY_IN_CLUSTER', IN_CLUSTER)
    if (settings.headers === false) return
    for (const [name, { unit, quiet, cost, settle }] of Object.entries(limits)) {
      const counts = (cost !== undefined && cost !== 0 && cost !== 1) || (settle !== undefined && settle !== 'bytes')
      if (!counts || unit !== undefined || settle === 'bytes' || quiet === true) continue
      reporter.warn(
        'SLUICE_NO_UNIT',
        `limit '${name}' does not count requests, so callers misread its fields; set unit`,
      )
    }
  }

  private lookForForwarding(facts: RequestFacts): void {
    this.looksForForwarding--
    if (!facts.isForwardingIgnored) return
    this.looksForForwarding = 0
    this.reporter.warn('SLUICE_UNTRUSTED_FORWARDING', UNTRUSTED)
  }

  /** A preflight that passes is answered as if there were no guard. */
  private askPreflight(preflights: Preflights, facts: RequestFacts): Outcome | undefined {
    const decision = preflights.decide(facts)
    this.reporter.decision(decision, facts)
    if (decision.allowed) return undefined
    return { ...this.refusedBy(this.refusal(decision, decision.limits, facts)), expose: this.responseFields.exposed }
  }

  /** Those of this guard, or of the route that alone has the limit or that is named. */
  private operatorsFor(call: string, target: OperatorTarget): Operators {
    const { limit, route } = Object(target) as Partial<OperatorTarget>
    if (route === undefined && typeof limit === 'string' && this.hasItself(limit)) return this.operators
    const found = typeof limit === 'string' ? this.routes.having(limit, route) : []
    if (found.length === 1) return found[0]![1].operators
    if (found.length > 1) {
      const names = found.map(([name]) => `'${name}'`).join(', ')
      throw expected('SLUICE_UNKNOWN_LIMIT', `guard.${call}() with the route of limit '${limit}' (${names})`, route)
    }
    if (route !== undefined) throw expected('SLUICE_UNKNOWN_LIMIT', `a route that has limit '${limit}'`, route)
    const names = Object.keys(this.bound)
      .map(name => `'${name}'`)
      .join(', ')
    throw expected(
      'SLUICE_UNKNOWN_LIMIT',
      `guard.${call}() with the name of a limit (${names}, or one of a route)`,
      limit,
    )
  }

  private decide<Reply>(facts: RequestFacts, reply: Reply, reader: Reader<never, Reply>): Maybe<Outcome | undefined> {
    if (this.reserves) {
      const reservation = this.limiter.reserve(facts, { cost: SET_ASIDE, ttl: LONGEST_RESPONSE })
      const go = (held: GuardReservation) => this.answer(held.decision, held, facts, reply, reader)
      return reservation instanceof Promise ? reservation.then(go) : go(reservation)
    }
    const decision = this.limiter.consume(facts)
    if (!(decision instanceof Promise)) return this.answer(decision, undefined, facts, reply, reader)
    return decision.then(made => this.answer(made, undefined, facts, reply, reader))
  }

  private async decideLater<Reply>(
    finish: FinishLookups,
    facts: RequestFacts,
    reply: Reply,
    reader: Reader<never, Reply>,
  ): Promise<Outcome | undefined> {
    const refused = await this.refusedEarly(facts)
    if (refused !== undefined) return this.answer(refused, undefined, facts, reply, reader)
    return (await finish()) ? undefined : this.decide(facts, reply, reader)
  }

  /** The decision of the limits that need no look-up and no store elsewhere, if they refuse: a flood causes no look-ups. */
  private async refusedEarly(facts: RequestFacts): Promise<Decision | undefined> {
    const isLate = (limit: SafeLimit) => limit.isAsync || (limit.options.store ?? this.settings.store)?.mode === 'async'
    const late = this.safe.filter(isLate)
    if (late.length === this.safe.length) return undefined
    const putBack = late.map(limit => limit.leaveOut(facts))
    try {
      const look = this.reporter.quietly(() => this.limiter.peek(facts))
      if ((await look).allowed) return undefined
      const decision = await this.limiter.consume(facts)
      if (!decision.allowed) return decision
      await this.limiter.refund(decision)
      return undefined
    } finally {
      for (const put of putBack) put()
    }
  }

  private refusedBy(refusal: Refusal): Outcome {
    const nothing = { decision: undefined, fields: [], expose: undefined, ended: undefined, measures: false }
    return { guard: this.fieldName, refusal, ...nothing }
  }

  private skipFunction(skip: NonNullable<GuardSettings['skip']>, deadlineMs: number): UserFunction<boolean> {
    return new UserFunction<boolean>({
      call: skip,
      read: answer => yesOrNo('skip', answer ?? false),
      otherwise: (_, error) => {
        this.reporter.fallback('', 'skip', 'false', error)
        return false
      },
      clock: this.clock,
      deadlineMs,
    })
  }

  private answer<Reply>(
    decision: Decision,
    reservation: GuardReservation | undefined,
    facts: RequestFacts,
    reply: Reply,
    reader: Reader<never, Reply>,
  ): Maybe<Outcome | undefined> {
    if (!(decision instanceof ChargedDecision) || decision.charges.length === 0) return undefined // no limit applied
    keepDecision(facts.raw, decision)
    if (!this.responseFields.wantsLook(decision, facts))
      return this.tell(decision, undefined, reservation, facts, reply, reader)
    const look: Maybe<Decision> = this.limiter.peek(facts)
    return andThen(look, seen => this.tell(decision, seen, reservation, facts, reply, reader))
  }

  private tell<Reply>(
    decision: ChargedDecision,
    look: Decision | undefined,
    reservation: GuardReservation | undefined,
    facts: RequestFacts,
    reply: Reply,
    reader: Reader<never, Reply>,
  ): Maybe<Outcome | undefined> {
    const { responseFields } = this
    const states = responseFields.told(decision, look)
    const outcome: Outcome = {
      guard: this.fieldName,
      decision,
      fields: responseFields.fields(decision, states, facts),
      expose: facts.isCrossOrigin ? responseFields.exposed : undefined,
      refusal: decision.allowed ? undefined : this.refusal(decision, states, facts),
      ended: this.follows && decision.allowed ? this.afterResponse.after(decision, reservation, facts) : undefined,
      measures: this.reserves,
    }
    const delayMs = decision.allowed ? responseFields.delayMs(decision, facts) : 0
    if (delayMs === 0) return outcome
    return inTurn(this.clock, delayMs, callback => reader.onClose(reply, callback)).then(here => {
      if (here) return outcome
      this.giveBack(decision, reservation)
      return this.refusedBy(GONE)
    })
  }

  private refusal(decision: Decision, states: readonly LimitState[], facts: RequestFacts): Refusal {
    const { responseFields } = this
    const { refuse, retryAfterJitter = 0 } = this.settings
    const rules = {
      isShared: (name: string) => responseFields.isShared(name),
      statusOf: (name: string) => responseFields.statusOf(name),
      retryAfterJitter,
    }
    const refusal = refusalOf(decision, states, rules, responseFields.isQuiet(states))
    if (refuse === undefined) return refusal
    try {
      return changed(refusal, parts => refuse(parts, decision, facts.view))
    } catch (error) {
      this.reporter.fallback('', 'refuse', 'the usual refusal', error)
      return refusal
    }
  }

  /** A request that left the queue never was. */
  private giveBack(decision: Decision, reservation: GuardReservation | undefined): void {
    decision.release()
    const given = reservation === undefined ? this.limiter.refund(decision) : reservation.cancel()
    if (given instanceof Promise) given.catch(error => this.reporter.fallback('', 'delay', 'the slot as taken', error))
  }
}
brand('Guard', Guard)

const MADE_IN_HANDLER =
  'guards are made one after the other and each is asked once, so nothing is limited; call rateLimit() once, outside of the request handler'
const IN_CLUSTER =
  "this worker of a cluster counts in its own memory, so each worker allows the whole limit; use redisStore() of 'sluice/redis'"
const UNTRUSTED =
  'X-Forwarded-For arrives from a peer that is not trusted, so it is not read and all behind that peer are one client; if it is your proxy, set trustProxy to its addresses'

function holdsSlots(policy: PolicyLike): boolean {
  return policyOf(policy).kind === 'concurrency'
}
