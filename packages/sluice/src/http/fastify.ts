import { expected } from '../errors.ts'
import type { Maybe } from '../limiter/maybe.ts'
import { follow, type NodeRequest, type NodeResponse, nodeReader } from './exchange/node.ts'
import type { Reader } from './facts.ts'
import { Guard } from './guard.ts'
import { guardFrom } from './guard-from.ts'
import type { GuardOptions } from './guard-options.ts'
import { EXPOSE, exposed, joined, type Outcome } from './outcome.ts'
import type { Route } from './route-options.ts'

export type { GuardOptions } from './guard-options.ts'
export type { Route } from './route-options.ts'

/** A Fastify request, reply and instance, as far as they are used. */
export interface FastifyRequest {
  readonly raw: NodeRequest
  readonly method: string
  readonly originalUrl: string
  readonly routeOptions: { readonly url?: string | undefined; readonly config?: object }
}
export interface FastifyReply {
  readonly raw: NodeResponse
  code(status: number): unknown
  header(name: string, value: string): unknown
  getHeader(name: string): unknown
  send(body: string): unknown
}
export interface FastifyInstance {
  // biome-ignore lint/suspicious/noExplicitAny: the hooks of Fastify have one signature each, told apart by their names.
  addHook(name: any, hook: any): unknown
  decorateRequest(name: string, value: unknown): unknown
  hasRequestDecorator(name: string): boolean
}

/** Later hooks know more: `'preHandler'` has the body and who logged in. `'onRequest'`, the default, costs least. */
export type Hook = 'onRequest' | 'preParsing' | 'preValidation' | 'preHandler'
export type FastifyOptions = (GuardOptions | { guard: Guard }) & { hook?: Hook }

const HOOKS: readonly unknown[] = ['onRequest', 'preParsing', 'preValidation', 'preHandler']

const reader: Reader<FastifyRequest, FastifyReply> = {
  method: request => request.method,
  target: request => request.originalUrl,
  header: (request, name) => nodeReader.header(request.raw, name),
  peer: request => nodeReader.peer(request.raw),
  route: request => request.routeOptions.url,
  onClose: (reply, callback) => nodeReader.onClose(reply.raw, callback),
}

/** Marks that an instance takes care of what routes say in their `config`: of several limiters, the first does. */
const ROUTES_READ = 'sluiceRoutesRead'

/**
 * `await app.register(rateLimit, { policy: '100/m' })` limits all routes of the scope it is registered in. A route says
 * what is different about it in `config: { rateLimit: { cost: 5 } }`, with limits of its own, or with `false`.
 */
export const rateLimit = Object.assign(
  function sluice(app: FastifyInstance, options: FastifyOptions, done: (error?: Error) => void): void {
    const { hook = 'onRequest', ...rest } = options
    if (!HOOKS.includes(hook)) throw expected('SLUICE_BAD_OPTION', `hook ${HOOKS.join(', ')}`, hook)
    const guard = guardFrom('guard' in rest && rest.guard instanceof Guard ? rest.guard : (rest as GuardOptions))
    const first = !app.hasRequestDecorator(ROUTES_READ)
    if (first) {
      app.decorateRequest(ROUTES_READ, true)
      app.addHook('onRoute', checkRoute)
    }
    app.addHook(hook, (request: FastifyRequest, reply: FastifyReply, ...more: unknown[]) => {
      const next = more.at(-1) as (error?: unknown) => void
      const asked = ask(guard, first, request, reply)
      if (asked instanceof Promise) asked.then(outcome => carryOut(outcome, request, reply, next)).catch(next)
      else carryOut(asked, request, reply, next)
    })
    done()

    /** What is wrong with a route is said when it is registered. */
    function checkRoute(route: { method: string | string[]; url: string; config?: object }): void {
      const own = configOf(route.config)
      if (own !== undefined && own !== false) guard.for(route.url, own)
    }
  },
  // The hooks are for the scope that registers this, not for one of its own: what fastify-plugin does.
  { [Symbol.for('skip-override')]: true, [Symbol.for('fastify.display-name')]: 'sluice' },
)

function ask(guard: Guard, first: boolean, request: FastifyRequest, reply: FastifyReply): Maybe<Outcome | undefined> {
  const own = configOf(request.routeOptions.config)
  if (own === false) return undefined
  const asked = own === undefined || !first ? guard : guard.for(request.routeOptions.url ?? '', own)
  return asked.ask(request, reply, reader)
}

function configOf(config: object | undefined): Route | false | undefined {
  return (config as { rateLimit?: Route | false } | undefined)?.rateLimit
}

function carryOut(
  outcome: Outcome | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
  next: (error?: unknown) => void,
): void {
  if (outcome !== undefined) setFields(outcome, reply)
  if (outcome?.refusal !== undefined) {
    const { status, fields, body } = outcome.refusal
    for (let i = 0; i < fields.length; i += 2) reply.header(fields[i]!, fields[i + 1]!)
    reply.code(status)
    reply.send(request.method === 'HEAD' ? '' : body)
    return
  }
  if (outcome?.ended !== undefined) follow(outcome, reply.raw)
  next()
}

function setFields({ fields, expose }: Outcome, reply: FastifyReply): void {
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i]!
    reply.header(name, joined(reply.getHeader(name), fields[i + 1]!))
  }
  if (expose !== undefined) reply.header(EXPOSE, exposed(reply.getHeader(EXPOSE), expose))
}
