import type { Maybe } from '../limiter/maybe.ts'
import { followResponse, responseOf, setFields } from './exchange/fetch.ts'
import type { Reader } from './facts.ts'
import type { Guard } from './guard.ts'
import { guardFrom } from './guard-from.ts'
import type { GuardOptions } from './guard-options.ts'
import type { Outcome } from './outcome.ts'

export type { GuardOptions } from './guard-options.ts'

/** A Hono context, as far as it is read and written. */
export interface HonoContext {
  readonly req: {
    readonly raw: Request
    readonly method: string
    readonly url: string
    header(name: string): string | undefined
    readonly matchedRoutes: readonly { readonly method: string; readonly path: string }[]
  }
  readonly env: unknown
  res: Response
  header(name: string, value: string): void
}

/** Where the servers that run Hono keep the other end of the connection: Node, Deno and Bun. */
interface Environment {
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } | null }
  readonly remoteAddr?: { readonly hostname?: string }
  requestIP?(request: Request): { readonly address: string } | null
}

const reader: Reader<HonoContext, HonoContext> = {
  method: context => context.req.method,
  target: context => context.req.url,
  header: (context, name) => context.req.header(name),
  peer(context) {
    const env = (context.env ?? {}) as Environment
    return env.incoming?.socket?.remoteAddress ?? env.remoteAddr?.hostname ?? env.requestIP?.(context.req.raw)?.address
  },
  route: routeOf,
  onClose({ req }, callback) {
    req.raw.signal.addEventListener('abort', callback, { once: true })
    return () => req.raw.signal.removeEventListener('abort', callback)
  },
}

/** `app.use(rateLimit({ policy: '100/m' }))`, wherever Hono runs. */
export function rateLimit(options: GuardOptions | Guard) {
  const guard = guardFrom(options)
  return function sluice(context: HonoContext, next: () => Promise<void>): Promise<Response | undefined> {
    const asked: Maybe<Outcome | undefined> = guard.ask(context, context, reader)
    return asked instanceof Promise
      ? asked.then(outcome => carryOut(outcome, context, next))
      : carryOut(asked, context, next)
  }
}

async function carryOut(
  outcome: Outcome | undefined,
  context: HonoContext,
  next: () => Promise<void>,
): Promise<Response | undefined> {
  if (outcome === undefined) {
    await next()
    return undefined
  }
  if (outcome.refusal !== undefined) return responseOf(outcome, outcome.refusal, context.req.method)
  if (outcome.ended === undefined) {
    await next()
    setFields(outcome, context.res.headers)
    return undefined
  }
  context.res = await followResponse(outcome, context.req.raw.signal, async () => {
    await next()
    setFields(outcome, context.res.headers)
    return context.res
  })
  return undefined
}

/** Middleware is registered for all methods; the route is what answers, and comes last. */
function routeOf({ req }: HonoContext): string | undefined {
  const routes = req.matchedRoutes
  const handler =
    routes.findLast(({ method }) => method !== 'ALL') ?? routes.findLast(({ path }) => !path.includes('*'))
  return handler?.path
}
