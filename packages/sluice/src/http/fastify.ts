import type { FastifyRequest } from 'fastify'
import type { Decision } from '../decision.ts'
import { expected } from '../errors.ts'
import {
  type FastifyInstanceShape,
  type FastifyReplyShape,
  type FastifyRequestShape,
  fastifyReader,
  type RequestHook,
} from './adapters/fastify-exchange.ts'
import { configOf, type RouteConfig } from './adapters/fastify-route.ts'
import { checkHook, guardOfRoute, type Hook, hookOfRoute, nameOf } from './adapters/fastify-route-guard.ts'
import { guardFrom } from './adapters/guard-from.ts'
import { follow, type Next, unlessAnswered } from './adapters/node-exchange.ts'
import { RefusedError } from './adapters/refused-error.ts'
import { setFields } from './adapters/set-fields.ts'
import { Guard } from './guard/guard.ts'
import type { GuardOptions } from './guard/guard-options.ts'
import { decisionOf, type Outcome } from './guard/outcome.ts'
import { checkRoute, type Route } from './guard/route-guards.ts'
import type { RequestView } from './request/request-facts.ts'

export type { Hook } from './adapters/fastify-route-guard.ts'
export { RefusedError } from './adapters/refused-error.ts'
export type { GuardOptions } from './guard/guard-options.ts'
export type { Route } from './guard/route-guards.ts'
export { decisionOf }

/** A route as it is registered. */
type NewRoute = { [phase in Hook]?: unknown } & {
  readonly method?: string | readonly string[] | undefined
  readonly url?: string | undefined
  config?: RouteConfig | undefined
}
/** What functions in the options receive. */
export type FastifyView = RequestView<FastifyRequest>
type FastifyGuard = (GuardOptions<FastifyView> & { guard?: undefined }) | { guard: Guard }
export type FastifyOptions = FastifyGuard & FastifySettings

export interface FastifySettings {
  /** With `'preHandler'` the guard runs after all other hooks of that kind, so it sees what they have added to the request. */
  hook?: Hook | undefined
  /** If false, only routes with `rateLimit: true` or options of their own in their `config` are limited. */
  global?: boolean | undefined
  /** If true, refusals go to the error handler as a `RefusedError`. */
  throw?: boolean | undefined
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The decision on the request; undefined if no limit applied. */
    readonly rateLimit: Decision | undefined
  }
  interface FastifyInstance {
    /** A hook for a route or for `setNotFoundHandler`, with the limits of the scope and those given here. */
    rateLimit(own?: Route<FastifyView>): RequestHook
  }
}

/** Marks a scope that has a limiter. */
const ROUTES_READ = Symbol.for('sluice.routes-read')

/**
 * `await app.register(rateLimit, { policy: '100/m' })` limits all routes of the scope it is registered in. A route changes
 * that in its `config`: `{ rateLimit: { cost: 5 } }`, limits of its own, or `false`.
 */
export const rateLimit = Object.assign(
  // Async, so that bad options reject `ready()`: a synchronous throw would end the process.
  async function sluice(app: FastifyInstanceShape, options: FastifyOptions): Promise<void> {
    const { hook = 'onRequest', global = true, throw: throws = false, ...rest } = options
    checkHook('hook', hook)
    const guard = guardOf(rest)
    const limiter = { guard, global, isFirst: !app.hasDecorator(ROUTES_READ) }
    if (limiter.isFirst) app.decorate(ROUTES_READ, true)
    /** Marks routes that have the hook themselves, so that their requests are not counted twice. */
    const hasOwnHook = Symbol('sluice.has-own-hook')
    const ofRoute = hookFor(request => guardOfRoute(configOf(request), limiter), throws)
    app.addHook('onRoute', (route: NewRoute) => {
      const config = { ...route.config, method: route.method, url: route.url }
      if (guardOfRoute(config, limiter) === undefined) return
      const phase = hookOfRoute(config) ?? hook
      if (phase === hook && phase !== 'preHandler') return
      addLast(route, phase, ofRoute)
      route.config = { ...route.config, [hasOwnHook]: true } as RouteConfig
    })
    const ofOther = (request: FastifyRequestShape) => {
      const config = configOf(request)
      if (hasOwnHook in config) return undefined
      const own = hookOfRoute(config) ?? hook
      if (own === hook) return guardOfRoute(config, limiter)
      throw expected('SLUICE_BAD_OPTION', `${nameOf(config)} to come after the limiter if it names a hook`, own)
    }
    app.addHook(hook, hookFor(ofOther, throws))
    if (!app.hasRequestDecorator('rateLimit')) app.decorateRequest('rateLimit', { getter: ownDecision })
    if (app.hasDecorator('rateLimit')) return
    app.decorate('rateLimit', (own?: Route) => {
      if (own !== undefined) checkRoute('app.rateLimit()', own)
      return hookFor(request => (own === undefined ? guard : guard.for(nameOf(configOf(request)), own)), throws)
    })
  },
  // Like fastify-plugin: the hooks are for the scope that registers this, not for a new scope inside it.
  { [Symbol.for('skip-override')]: true, [Symbol.for('fastify.display-name')]: 'sluice' },
)

function guardOf({ guard, ...options }: FastifyGuard): Guard {
  if (guard === undefined) return guardFrom(options as GuardOptions<FastifyView>)
  if (!(guard instanceof Guard)) throw expected('SLUICE_BAD_OPTION', 'guard from createGuard()', guard)
  const beside = Object.entries(options).find(([, value]) => value !== undefined)?.[0]
  if (beside !== undefined) throw expected('SLUICE_BAD_OPTION', 'a guard that has all options itself', beside)
  return guard
}

function ownDecision(this: object): Decision | undefined {
  return decisionOf(this)
}

/** Fastify runs the hooks of a route after those of its scopes, whenever these were added. */
function addLast(route: NewRoute, phase: Hook, hook: RequestHook): void {
  const before = [route[phase] ?? []].flat()
  // Fastify makes a HEAD route from its GET route, which may have the hook already.
  if (!before.includes(hook)) route[phase] = [...before, hook]
}

/** The hook that asks a guard; `undefined` lets the request pass. */
function hookFor(guardOf: (request: FastifyRequestShape) => Guard | undefined, throws: boolean): RequestHook {
  return function sluice(request, reply, third, fourth) {
    const next = (fourth ?? third) as Next
    const asked = guardOf(request)?.ask(request, reply, fastifyReader)
    const goesOn = (outcome: Outcome | undefined) => carryOut(outcome, reply, throws)
    if (asked instanceof Promise) unlessAnswered(asked, reply.raw, false, goesOn).then(goes => goes && next(), next)
    // Called here: Fastify makes `next` anew for each request, and calling it in an inner function is slower.
    else if (goesOn(asked)) next()
  }
}

/** Writes the outcome to the reply, and returns whether the handler may run. */
function carryOut(outcome: Outcome | undefined, reply: FastifyReplyShape, throws: boolean): boolean {
  if (outcome === undefined) return true
  const refusal = setFields(outcome, reply)
  if (outcome.ended !== undefined) follow(outcome, reply.raw)
  if (refusal === undefined) return true
  if (throws) {
    reply.removeHeader('content-type') // the error handler chooses its own
    throw new RefusedError(refusal, outcome.decision)
  }
  reply.code(refusal.status)
  // The body is sent to HEAD as well: Fastify keeps its length and drops it.
  reply.send(refusal.body)
  return false
}
