import type { Context } from 'hono'
import type { Decision } from '../decision.ts'
import type { Maybe } from '../maybe.ts'
import { followResponse, setFields, whenAborted, withFields } from './adapters/fetch-response.ts'
import { guardFrom } from './adapters/guard-from.ts'
import { peerOf } from './adapters/peer-address.ts'
import type { Guard } from './guard/guard.ts'
import type { GuardOptions } from './guard/guard-options.ts'
import type { Outcome } from './guard/outcome.ts'
import type { Reader, RequestView } from './request/request-facts.ts'
import type { Refusal } from './response/refusal.ts'

export type { GuardOptions } from './guard/guard-options.ts'
export { decisionOf } from './guard/outcome.ts'

declare module 'hono' {
  interface ContextVariableMap {
    /** The decision on the request; undefined if no limit applied. */
    rateLimit: Decision | undefined
  }
}

/** What functions in the options receive. Types of variables come from `ContextVariableMap`. */
export type HonoView = RequestView<Context>

/** The parts of a Hono context that this adapter uses. */
export interface HonoContext {
  readonly req: {
    readonly raw: Request
    readonly method: string
    readonly url: string
    header(name: string): string | undefined
    readonly matchedRoutes: readonly {
      readonly method: string
      readonly path: string
      readonly handler: (...args: never[]) => unknown
    }[]
    /** The index in `matchedRoutes` of the handler that runs now. */
    readonly routeIndex: number
  }
  readonly env: unknown
  set(key: string, value: unknown): void
  get res(): Response
  set res(response: Response | undefined)
}

const reader: Reader<HonoContext, HonoContext> = {
  method: context => context.req.method,
  target: context => context.req.url,
  header: (context, name) => context.req.header(name),
  peer: context => peerOf(context.req.raw, context.env),
  route: routeOf,
  onClose: ({ req }, callback) => whenAborted(req.raw.signal, callback),
}

/** `app.use(rateLimit({ policy: '100/m' }))`, wherever Hono runs. */
export function rateLimit(options: GuardOptions<HonoView> | Guard) {
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
  context.set('rateLimit', outcome.decision)
  if (outcome.refusal !== undefined) return refuse(outcome, outcome.refusal, context)
  const response = await followResponse(outcome, context.req.raw, async () => {
    await next()
    return withFields(outcome, context.res)
  })
  if (response === context.res) return undefined
  // Without this, Hono's setter would copy the headers of the old response over the new ones.
  context.res = undefined
  context.res = response
  return undefined
}

/** Keeps the headers that earlier middleware has set: without CORS headers, a page of another origin could not read the refusal. */
function refuse(outcome: Outcome, { status, fields, body }: Refusal, context: HonoContext): Response {
  const { headers } = context.res
  for (let i = 0; i < fields.length; i += 2) headers.set(fields[i]!, fields[i + 1]!)
  setFields(outcome, headers)
  return new Response(context.req.method === 'HEAD' ? null : body, { status, headers })
}

/**
 * Hono lists middleware among the matched routes, mostly for all methods or with a wildcard. The route is the first match
 * for one method without a wildcard, or else the first without one. Wildcard routes (`app.all('/files/*')`) count only if
 * they stand after this middleware: the first for one method or whose handler takes no `next`, or else the last of them.
 */
function routeOf({ req }: HonoContext): string | undefined {
  const { matchedRoutes, routeIndex } = req
  const exact = matchedRoutes.filter(({ path }) => !path.includes('*'))
  const route = exact.find(isForOneMethod) ?? exact[0]
  if (route !== undefined) return route.path
  const behind = matchedRoutes.slice(routeIndex + 1)
  return (behind.find(pattern => isForOneMethod(pattern) || isHandler(pattern)) ?? behind.at(-1))?.path
}

type MatchedRoute = HonoContext['req']['matchedRoutes'][number]

function isForOneMethod({ method }: MatchedRoute): boolean {
  return method !== 'ALL'
}

function isHandler({ handler }: MatchedRoute): boolean {
  return handler.length < 2
}
