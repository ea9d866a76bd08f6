import type { FastifyReply, FastifyRequest } from 'fastify'
import { expected } from '../errors.ts'
import { clientAddress } from '../http/address/client-address.ts'
import type { Limiter } from '../limiter/limiter.ts'
import { type RedisClient, redisStore } from '../stores/redis/index.ts'
import type { Mode, Store } from '../stores/store.ts'
import { millisecondsOf, textOf } from './fastify-rate-limit-time.ts'
import { checkPeerOptions, sluiceStore, type WindowSubject, windowLimiter } from './window-limiter.ts'

type PerKey<T> = T | ((request: FastifyRequest, key: string) => T | Promise<T>)
type HookName = 'onRequest' | 'preParsing' | 'preValidation' | 'preHandler'

/** What `errorResponseBuilder` gets. */
export interface ErrorContext {
  statusCode: number
  ban: false
  after: string
  max: number
  ttl: number
}

/** The options of @fastify/rate-limit 11, for a route. */
export interface RouteLimitOptions {
  max?: PerKey<number>
  /** Milliseconds, or a text such as `'1 minute'`. */
  timeWindow?: PerKey<number | string>
  hook?: HookName
  allowList?: readonly string[] | ((request: FastifyRequest, key: string) => boolean | Promise<boolean>)
  keyGenerator?: (request: FastifyRequest) => string | number | Promise<string | number>
  ipv6Subnet?: number
  groupId?: string
  skipOnError?: boolean
  errorResponseBuilder?: (request: FastifyRequest, context: ErrorContext) => object
  enableDraftSpec?: boolean
  onExceeding?: (request: FastifyRequest, key: string) => void
  onExceeded?: (request: FastifyRequest, key: string) => void
}

export interface PluginLimitOptions extends RouteLimitOptions {
  global?: boolean
  nameSpace?: string
  redis?: RedisClient
  /** `memoryStore()` or `redisStore(client)` of Sluice. */
  store?: Store
  addHeaders?: Readonly<Record<string, boolean>>
  addHeadersOnExceeding?: Readonly<Record<string, boolean>>
}

const ROUTE_KNOWN = [
  ...['max', 'timeWindow', 'hook', 'allowList', 'keyGenerator', 'ipv6Subnet', 'groupId', 'skipOnError'],
  ...['errorResponseBuilder', 'enableDraftSpec', 'onExceeding', 'onExceeded'],
]
const KNOWN = [...ROUTE_KNOWN, 'global', 'nameSpace', 'redis', 'store', 'addHeaders', 'addHeadersOnExceeding']
const INSTEAD = {
  ban: 'use blockFor of a limit in sluice/fastify',
  onBanReach: 'use blockFor of a limit in sluice/fastify',
  continueExceeding: 'use blockFor of a limit in sluice/fastify',
  exponentialBackoff: 'use blockFor: { first, factor, max } of a limit in sluice/fastify',
  cache: 'use store: memoryStore({ maxKeys })',
}

type CompatHook = (request: FastifyRequest, reply: FastifyReply) => Promise<void>
interface RouteBeingAdded {
  method: string | string[]
  url: string
  config?: { rateLimit?: unknown } | undefined
  [hook: string]: unknown
}
interface App {
  // biome-ignore lint/suspicious/noExplicitAny: the hooks of Fastify have one signature each, told apart by their names.
  addHook(name: any, hook: any): unknown
  decorate(name: string, value: unknown): unknown
  hasDecorator(name: string): boolean
}

/** A replacement for @fastify/rate-limit: `import rateLimit from 'sluice/compat/fastify-rate-limit'`. */
export const fastifyRateLimit = Object.assign(
  async function sluice(app: App, given: PluginLimitOptions = {}): Promise<void> {
    const plugin = checkPeerOptions('@fastify/rate-limit', given, KNOWN, INSTEAD)
    const { nameSpace = 'fastify-rate-limit-', global = true, redis } = plugin
    const store = redis === undefined ? sluiceStore('@fastify/rate-limit', plugin.store) : redisStore(redis)
    const asked = new WeakSet<FastifyRequest>()

    const hookFor = (own: RouteLimitOptions, name: string): CompatHook => {
      const options = { ...plugin, ...own }
      if (typeof options.timeWindow !== 'function') millisecondsOf(options.timeWindow ?? 60_000)
      const onOutage = options.skipOnError === true ? 'open' : 'closed'
      const limiter = windowLimiter(`${nameSpace}${name}`, { store, onOutage })
      return async (request, reply) => {
        if (asked.has(request)) return
        asked.add(request)
        await limit(limiter, options, request, reply)
      }
    }
    const globalHook = hookFor({}, '')
    const routeHook = (own: unknown, name: string): CompatHook | undefined => {
      if (own === false) return undefined
      if (typeof own !== 'object' || own === null) {
        throw expected('SLUICE_BAD_OPTION', `rateLimit of ${name} as an object or false`, own)
      }
      const options = checkPeerOptions(`rateLimit of ${name}`, own as RouteLimitOptions, ROUTE_KNOWN, INSTEAD)
      return hookFor(options, options.groupId === undefined ? name : `group ${options.groupId}`)
    }

    app.addHook('onRoute', (route: RouteBeingAdded) => {
      const own = route.config?.rateLimit
      const hook =
        own === undefined ? (global ? globalHook : undefined) : routeHook(own, `${route.method} ${route.url}`)
      if (hook === undefined) return
      const phase = (own as RouteLimitOptions | undefined)?.hook ?? plugin.hook ?? 'onRequest'
      route[phase] = [...[route[phase] ?? []].flat().filter(one => one !== hook), hook]
    })
    let made = 0
    const rateLimit = (own?: RouteLimitOptions) => (own === undefined ? globalHook : routeHook(own, `hook ${++made}`))
    if (!app.hasDecorator('rateLimit')) app.decorate('rateLimit', rateLimit)
  },
  { [Symbol.for('skip-override')]: true, [Symbol.for('fastify.display-name')]: '@fastify/rate-limit' },
)

export default fastifyRateLimit

async function limit(
  limiter: Limiter<WindowSubject, Mode>,
  options: PluginLimitOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { keyGenerator, allowList, ipv6Subnet = 64, onExceeding, onExceeded, enableDraftSpec } = options
  const found = keyGenerator === undefined ? addressOf(request, ipv6Subnet) : await keyGenerator(request)
  const key = String(found)
  if (typeof allowList === 'function' ? await allowList(request, key) : allowList?.includes(key)) return
  const max = await answerOf(options.max ?? 1000, request, key)
  const windowMs = millisecondsOf(await answerOf(options.timeWindow ?? 60_000, request, key))
  const decision = await limiter.consume({ key, limit: Math.trunc(max), windowMs })
  if (decision.degraded === 'open') return
  if (decision.degraded === 'closed') throw new Error('the store of the rate limiter is down')
  const ttl = Math.ceil(decision.allowed ? decision.resetAfterMs : decision.retryAfterMs)
  const seconds = Math.ceil(ttl / 1000)
  const prefix = enableDraftSpec === true ? 'ratelimit' : 'x-ratelimit'
  const wanted = decision.allowed ? options.addHeadersOnExceeding : options.addHeaders
  const headers = {
    [`${prefix}-limit`]: max,
    [`${prefix}-remaining`]: decision.remaining,
    [`${prefix}-reset`]: seconds,
    ...(decision.allowed ? {} : { 'retry-after': seconds }),
  }
  for (const [name, value] of Object.entries(headers)) if (wanted?.[name] !== false) reply.header(name, value)
  if (decision.allowed) {
    onExceeding?.(request, key)
    return
  }
  onExceeded?.(request, key)
  const context: ErrorContext = { statusCode: 429, ban: false, max, ttl, after: textOf(seconds) }
  throw options.errorResponseBuilder?.(request, context) ?? exceeded(context)
}

function exceeded({ after, statusCode }: ErrorContext): Error {
  return Object.assign(new Error(`Rate limit exceeded, retry in ${after}`), { statusCode })
}

function addressOf({ ip }: FastifyRequest, ipv6Subnet: number): string {
  return clientAddress({ ipv6Prefix: ipv6Subnet })(ip, () => undefined)
}

async function answerOf<T>(value: PerKey<T>, request: FastifyRequest, key: string): Promise<T> {
  return typeof value === 'function'
    ? (value as (request: FastifyRequest, key: string) => T | Promise<T>)(request, key)
    : value
}
