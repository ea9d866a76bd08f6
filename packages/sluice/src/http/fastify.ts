import { expected } from '../errors.ts'
import { configOf, type RouteConfig, type Routed } from './adapters/fastify-route.ts'
import { guardFrom } from './adapters/guard-from.ts'
import { follow, type Next, type NodeRequest, type NodeResponse, nodeReader } from './adapters/node-exchange.ts'
import { type Reply, setFields } from './adapters/set-fields.ts'
import { Guard } from './guard/guard.ts'
import type { GuardOptions } from './guard/guard-options.ts'
import type { Outcome } from './guard/outcome.ts'
import type { Route } from './guard/route-options.ts'
import type { Reader } from './request/request-facts.ts'
import type { Refusal } from './response/refusal.ts'

export type { GuardOptions } from './guard/guard-options.ts'
export type { Route } from './guard/route-options.ts'

/** A Fastify request, reply and instance, as far as they are used. */
export interface FastifyRequest extends Routed {
  readonly raw: NodeRequest
  readonly method: string
  readonly originalUrl: string
}
export interface FastifyReply extends Reply {
  readonly raw: NodeResponse
  code(status: number): unknown
  send(body: string): unknown
}
export interface FastifyInstance {
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

/** Later hooks know more: `'preHandler'` has the body and who logged in. `'onRequest'`, the default, costs least. */
export type Hook = 'onRequest' | 'preParsing' | 'preValidation' | 'preHandler'
export type FastifyOptions = (GuardOptions | { guard: Guard }) & { hook?: Hook }

const HOOKS: readonly unknown[] = ['onRequest', 'preParsing', 'preValidation', 'preHandler']

const reader: Reader<FastifyRequest, FastifyReply> = {
  method: request => request.method,
  target: request => request.originalUrl,
  header: (request, name) => nodeReader.header(request.raw, name),
  has: (request, name) => nodeReader.has!(request.raw, name),
  peer: request => nodeReader.peer(request.raw),
  route: request => configOf(request).url,
  onClose: (reply, callback) => nodeReader.onClose(reply.raw, callback),
}

/** Marks a scope where a limiter adds what routes say in their `config`: of several, only the first does. */
const ROUTES_READ = Symbol('sluice: routes are read')

/**
 * `await app.register(rateLimit, { policy: '100/m' })` limits all routes of the scope it is registered in. A route says
 * what is different about it in `config: { rateLimit: { cost: 5 } }`, with limits of its own, or with `false`.
 */
export const rateLimit = Object.assign(
  // Async, since what a plugin throws would end the process, and what it rejects with ends `ready`.
  async function sluice(app: FastifyInstance, { hook = 'onRequest', ...rest }: FastifyOptions): Promise<void> {
    if (!HOOKS.includes(hook)) throw expected('SLUICE_BAD_OPTION', `hook ${HOOKS.join(', ')}`, hook)
    const guard = guardOf(rest)
    const isFirst = !app.hasDecorator(ROUTES_READ)
    if (isFirst) app.decorate(ROUTES_READ, true)
    app.addHook('onRoute', ({ config, method, url }: NewRoute) => {
      guardFor({ ...config, method, url }, guard, isFirst) // what is wrong with a route is said when it is registered
    })
    app.addHook(hook, (request: FastifyRequest, reply: FastifyReply, third: unknown, fourth: unknown) => {
      // Between reply and callback, `preParsing` has the body.
      const next = (fourth ?? third) as Next
      const asked = guardFor(configOf(request), guard, isFirst)?.ask(request, reply, reader)
      if (asked instanceof Promise) goOnLater(asked, reply, next)
      // Here and not further in: Fastify makes it anew for each request, and calls to such are slow where not compiled along.
      else if (goesOn(asked, reply)) next()
    })
  },
  // The hooks are for the scope that registers this, not for one of its own: what fastify-plugin does.
  { [Symbol.for('skip-override')]: true, [Symbol.for('fastify.display-name')]: 'sluice' },
)

function guardOf(options: GuardOptions | { guard: Guard }): Guard {
  if (!('guard' in options)) return guardFrom(options)
  if (!(options.guard instanceof Guard)) throw expected('SLUICE_BAD_OPTION', 'guard from createGuard()', options.guard)
  const beside = Object.keys(options).find(option => option !== 'guard')
  if (beside !== undefined) throw expected('SLUICE_BAD_OPTION', 'a guard that has all options itself', beside)
  return options.guard
}

/** The guard as a route wants it; undefined where it wants none. */
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

/** Limits of its own are counted once, by the first limiter; but what a route costs, it costs in every one. */
const onlyCosts = new WeakMap<Route, Route>()

/** A route for GET answers HEAD as well, by a second route that Fastify makes of it. */
function nameOf({ method = '', url = '' }: RouteConfig): string {
  const methods = Array.isArray(method) ? method : [method]
  return `${methods.some(name => name === 'GET' || name === 'HEAD') ? 'GET' : methods.join()} ${url}`
}

/** Carries out what the guard has said, and tells whether the request goes on to its handler. */
function goesOn(outcome: Outcome | undefined, reply: FastifyReply): boolean {
  if (outcome === undefined) return true
  setFields(outcome, reply)
  if (outcome.ended !== undefined) follow(outcome, reply.raw)
  if (outcome.refusal === undefined) return true
  refuse(outcome.refusal, reply)
  return false
}

function goOnLater(asked: Promise<Outcome | undefined>, reply: FastifyReply, next: Next): void {
  asked.then(outcome => void (goesOn(outcome, reply) && next())).catch(next)
}

/** To HEAD, too: Fastify keeps the length of it and leaves the rest out. */
function refuse({ status, body }: Refusal, reply: FastifyReply): void {
  reply.code(status)
  reply.send(body)
}
