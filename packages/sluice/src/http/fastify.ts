import type { FastifyRequest } from 'fastify'
import { expected } from '../errors.ts'
import { configOf, type RouteConfig, type Routed } from './adapters/fastify-route.ts'
import { guardFrom } from './adapters/guard-from.ts'
import {
  follow,
  type Next,
  type NodeRequest,
  type NodeResponse,
  nodeReader,
  unlessAnswered,
} from './adapters/node-exchange.ts'
import { type HeaderResponse, setFields } from './adapters/set-fields.ts'
import { Guard } from './guard/guard.ts'
import type { GuardOptions } from './guard/guard-options.ts'
import type { Outcome } from './guard/outcome.ts'
import type { Route } from './guard/route-options.ts'
import type { Reader, RequestView } from './request/request-facts.ts'
import type { Refusal } from './response/refusal.ts'

export type { GuardOptions } from './guard/guard-options.ts'
export type { Route } from './guard/route-options.ts'

/** The parts of a Fastify request, reply and instance that this adapter uses. */
export interface FastifyRequestShape extends Routed {
  readonly raw: NodeRequest
  readonly method: string
  readonly originalUrl: string
}
export interface FastifyReplyShape extends HeaderResponse {
  readonly raw: NodeResponse
  code(status: number): unknown
  send(body: string): unknown
}
export interface FastifyInstanceShape {
  // biome-ignore lint/suspicious/noExplicitAny: the hooks of Fastify have one signature each, told apart by their names.
  addHook(name: any, hook: any): unknown
  decorate(name: symbol, value: boolean): unknown
  hasDecorator(name: symbol): boolean
}
interface NewRoute {
  readonly method?: string | readonly string[] | undefined
  readonly url?: string | undefined
  readonly config?: RouteConfig | undefined
}

/** The hook that runs the guard. `'preHandler'` sees the body and the user; `'onRequest'`, the default, is the cheapest. */
export type Hook = 'onRequest' | 'preParsing' | 'preValidation' | 'preHandler'
/** What functions in the options are handed. */
export type FastifyView = RequestView<FastifyRequest>
export type FastifyOptions = (GuardOptions<FastifyView> | { guard: Guard }) & { hook?: Hook }

const HOOKS: readonly unknown[] = ['onRequest', 'preParsing', 'preValidation', 'preHandler']

const reader: Reader<FastifyRequestShape, FastifyReplyShape> = {
  method: request => request.method,
  target: request => request.originalUrl,
  header: (request, name) => nodeReader.header(request.raw, name),
  has: (request, name) => nodeReader.has!(request.raw, name),
  peer: request => nodeReader.peer(request.raw),
  route: request => configOf(request).url,
  onClose: (reply, callback) => nodeReader.onClose(reply.raw, callback),
}

/** Marks a scope that has a limiter: of several limiters, only the first adds the limits in a route's `config`. */
const ROUTES_READ = Symbol.for('sluice.routes-read')

/**
 * `await app.register(rateLimit, { policy: '100/m' })` limits all routes of the scope it is registered in. A route changes
 * that in its `config`: `{ rateLimit: { cost: 5 } }`, limits of its own, or `false`.
 */
export const rateLimit = Object.assign(
  // Async, so that bad options reject `ready()`: a synchronous throw would end the process.
  async function sluice(app: FastifyInstanceShape, { hook = 'onRequest', ...rest }: FastifyOptions): Promise<void> {
    if (!HOOKS.includes(hook)) throw expected('SLUICE_BAD_OPTION', `hook ${HOOKS.join(', ')}`, hook)
    const guard = guardOf(rest)
    const isFirst = !app.hasDecorator(ROUTES_READ)
    if (isFirst) app.decorate(ROUTES_READ, true)
    app.addHook('onRoute', ({ config, method, url }: NewRoute) => {
      guardFor({ ...config, method, url }, guard, isFirst) // throws at registration if the route's options are wrong
    })
    app.addHook(hook, (request: FastifyRequestShape, reply: FastifyReplyShape, third: unknown, fourth: unknown) => {
      // `preParsing` passes the payload between reply and callback.
      const next = (fourth ?? third) as Next
      const asked = guardFor(configOf(request), guard, isFirst)?.ask(request, reply, reader)
      if (asked instanceof Promise) goOnLater(asked, reply, next)
      // Called here: Fastify makes `next` anew for each request, and calling it in an inner function is slower.
      else if (goesOn(asked, reply)) next()
    })
  },
  // Like fastify-plugin: the hooks are for the scope that registers this, not for a new scope inside it.
  { [Symbol.for('skip-override')]: true, [Symbol.for('fastify.display-name')]: 'sluice' },
)

function guardOf(options: GuardOptions<FastifyView> | { guard: Guard }): Guard {
  if (!('guard' in options)) return guardFrom(options)
  if (!(options.guard instanceof Guard)) throw expected('SLUICE_BAD_OPTION', 'guard from createGuard()', options.guard)
  const beside = Object.keys(options).find(option => option !== 'guard')
  if (beside !== undefined) throw expected('SLUICE_BAD_OPTION', 'a guard that has all options itself', beside)
  return options.guard
}

/** The guard for a route; undefined if the route is exempt. */
function guardFor(route: RouteConfig, guard: Guard, isFirst: boolean): Guard | undefined {
  return route.rateLimit === undefined ? guard : guardWith(route.rateLimit as Route | false, route, guard, isFirst)
}

function guardWith(own: Route | false, route: RouteConfig, guard: Guard, isFirst: boolean): Guard | undefined {
  if (own === false) return undefined
  if (isFirst) return guard.for(nameOf(route), own)
  if ('policy' in own || own.cost === undefined) return guard
  if (!onlyCosts.has(own)) onlyCosts.set(own, { cost: own.cost })
  return guard.for(nameOf(route), onlyCosts.get(own)!)
}

/** The first limiter alone counts a route's own limits, but its cost is charged by every limiter. */
const onlyCosts = new WeakMap<Route, Route>()

/** Fastify makes a second route for HEAD from each route for GET; both have one name. */
function nameOf({ method = '', url = '' }: RouteConfig): string {
  const methods = Array.isArray(method) ? method : [method]
  return `${methods.some(name => name === 'GET' || name === 'HEAD') ? 'GET' : methods.join()} ${url}`
}

/** Writes the outcome to the reply, and returns whether the handler may run. */
function goesOn(outcome: Outcome | undefined, reply: FastifyReplyShape): boolean {
  if (outcome === undefined) return true
  setFields(outcome, reply)
  if (outcome.ended !== undefined) follow(outcome, reply.raw)
  if (outcome.refusal === undefined) return true
  refuse(outcome.refusal, reply)
  return false
}

function goOnLater(asked: Promise<Outcome | undefined>, reply: FastifyReplyShape, next: Next): void {
  unlessAnswered(asked, reply.raw, false, outcome => goesOn(outcome, reply)).then(goes => goes && next(), next)
}

/** For HEAD too: Fastify keeps the length and drops the body. */
function refuse({ status, body }: Refusal, reply: FastifyReplyShape): void {
  reply.code(status)
  reply.send(body)
}
