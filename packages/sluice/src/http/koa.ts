import type { DefaultState, ExtendableContext } from 'koa'
import type { Maybe } from '../maybe.ts'
import { guardFrom } from './adapters/guard-from.ts'
import {
  follow,
  type NodeRequest,
  type NodeResponse,
  nodeReader,
  unlessAnswered,
  writeFields,
} from './adapters/node-exchange.ts'
import { ownTrust } from './adapters/own-trust.ts'
import type { Guard } from './guard/guard.ts'
import type { GuardOptions } from './guard/guard-options.ts'
import type { Outcome } from './guard/outcome.ts'
import type { Reader, RequestView } from './request/request-facts.ts'
import type { Refusal } from './response/refusal.ts'

export type { GuardOptions } from './guard/guard-options.ts'
export { decisionOf } from './guard/outcome.ts'

/** What functions in the options receive. */
export type KoaView = RequestView<ExtendableContext & { state: DefaultState }>

/** The parts of a Koa context that this adapter uses. */
export interface KoaContext {
  readonly req: NodeRequest
  readonly res: NodeResponse
  readonly originalUrl: string
  readonly path: string
  readonly method: string
  readonly app: object
  readonly state: object
  status: number
  body: unknown
  set(name: string, value: string): void
}

/** The middleware that `@koa/router` makes has the router as its property `router`. */
interface KoaRouter {
  match(path: string, method: string): { pathAndMethod: readonly { path: unknown; methods: readonly string[] }[] }
}

const reader: Reader<KoaContext, NodeResponse> = {
  method: context => context.method,
  target: context => context.originalUrl,
  header: (context, name) => nodeReader.header(context.req, name),
  peer: context => nodeReader.peer(context.req),
  route: routeOf,
  ownTrust: ({ app }) => ownTrust("Koa's app.proxy", (app as { proxy?: boolean }).proxy),
  onClose: nodeReader.onClose,
}

/** `app.use(rateLimit({ policy: '100/m' }))`. */
export function rateLimit(options: GuardOptions<KoaView> | Guard) {
  const guard = guardFrom(options)
  return function sluice(context: KoaContext, next: () => Promise<unknown>): Promise<unknown> {
    const asked: Maybe<Outcome | undefined> = guard.ask(context, context.res, reader)
    return asked instanceof Promise
      ? unlessAnswered(asked, context.res, undefined, outcome => carryOut(outcome, context, next))
      : carryOut(asked, context, next)
  }
}

function carryOut(outcome: Outcome | undefined, context: KoaContext, next: () => Promise<unknown>): Promise<unknown> {
  if (outcome === undefined) return next()
  const refusal = writeFields(outcome, context.res)
  Object.assign(context.state, { rateLimit: outcome.decision })
  if (refusal !== undefined) return Promise.resolve(sendRefusal(refusal, context))
  if (outcome.ended !== undefined) follow(outcome, context.res)
  return next()
}

/** Writes the response to the context, so that earlier middleware sees it. */
function sendRefusal({ status, fields, body }: Refusal, context: KoaContext): void {
  context.status = status
  context.body = body
  for (let i = 0; i < fields.length; i += 2) context.set(fields[i]!, fields[i + 1]!)
}

/** Asks the routers of the application which of their routes will serve the request. */
function routeOf({ app, path, method }: KoaContext): string | undefined {
  const { middleware = [] } = app as { middleware?: readonly { router?: KoaRouter }[] }
  const matched = middleware.flatMap(({ router }) => router?.match(path, method).pathAndMethod ?? [])
  const templates = matched.filter(({ methods }) => methods.length > 0).map(layer => String(layer.path))
  // A wildcard is usually middleware or a fallback.
  return templates.find(template => !template.includes('*')) ?? templates[0]
}
