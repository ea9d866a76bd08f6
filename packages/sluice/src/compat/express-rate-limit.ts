import type { NextFunction, Request, RequestHandler, Response } from 'express'
import type { Decision } from '../decision.ts'
import { expected } from '../errors.ts'
import { clientAddress } from '../http/address/client-address.ts'
import type { Store } from '../stores/store.ts'
import {
  type ExpressRateLimitInfo,
  type HeaderDraft,
  setLegacyHeaders,
  setStandardHeaders,
} from './express-rate-limit-headers.ts'
import { checkPeerOptions, sluiceStore, windowLimiter } from './window-limiter.ts'

/** A value, or a function of the request that returns it. */
type PerRequest<T> = T | ((request: Request, response: Response) => T | Promise<T>)

/** The options of express-rate-limit 8. */
export interface Options {
  windowMs: number
  limit: PerRequest<number>
  max: PerRequest<number>
  // biome-ignore lint/suspicious/noExplicitAny: as in express-rate-limit: anything that `response.send` takes.
  message: PerRequest<any>
  statusCode: number
  legacyHeaders: boolean
  standardHeaders: boolean | HeaderDraft
  identifier: PerRequest<string>
  requestPropertyName: string
  skipFailedRequests: boolean
  skipSuccessfulRequests: boolean
  keyGenerator: (request: Request, response: Response) => string | Promise<string>
  ipv6Subnet: number
  handler: (request: Request, response: Response, next: NextFunction, options: Options) => void
  skip: (request: Request, response: Response) => boolean | Promise<boolean>
  requestWasSuccessful: (request: Request, response: Response) => boolean | Promise<boolean>
  /** `memoryStore()` or `redisStore(client)` of Sluice. */
  store: Store
  passOnStoreError: boolean
  /** Accepted and ignored: Sluice checks its options itself. */
  validate: boolean | object
}

export type RateLimitRequestHandler = RequestHandler & {
  resetKey(key: string): Promise<void>
  getKey(key: string): Promise<{ totalHits: number; resetTime: Date } | undefined>
}

const DEFAULTS = {
  windowMs: 60_000,
  limit: 5,
  message: 'Too many requests, please try again later.',
  statusCode: 429,
  legacyHeaders: true,
  standardHeaders: false,
  requestPropertyName: 'rateLimit',
  skipFailedRequests: false,
  skipSuccessfulRequests: false,
  ipv6Subnet: 56,
  passOnStoreError: false,
  skip: () => false,
  requestWasSuccessful: (_: Request, { statusCode }: Response) => statusCode < 400,
  handler: sendMessage,
} satisfies Partial<Options>
const KNOWN = [...Object.keys(DEFAULTS), 'max', 'identifier', 'keyGenerator', 'store', 'validate']
const INSTEAD = {
  retryAfter: 'use handler, which may set the header',
  logger: 'outages are told by onEvent of the store',
}

/** A replacement for express-rate-limit: `import { rateLimit } from 'sluice/compat/express-rate-limit'`. */
export function rateLimit(passed: Partial<Options> = {}): RateLimitRequestHandler {
  const given = checkPeerOptions('rateLimit()', passed, KNOWN, INSTEAD)
  const options = { ...DEFAULTS, ...given, limit: given.limit ?? given.max ?? DEFAULTS.limit } as Options
  const { windowMs, requestPropertyName, legacyHeaders, standardHeaders } = options
  const keyOf = options.keyGenerator ?? ((request: Request) => ipKeyGenerator(request.ip, options.ipv6Subnet))
  const store = sluiceStore('rateLimit()', options.store)
  const onOutage = options.passOnStoreError ? 'open' : 'closed'
  const limiter = windowLimiter(`express-rate-limit ${++made}`, { store, onOutage })

  async function limited(request: Request, response: Response, next: NextFunction): Promise<void> {
    if (await options.skip(request, response)) return next()
    const key = await keyOf(request, response)
    const limit = await answerOf(options.limit, request, response)
    const decision = await limiter.consume({ key, limit, windowMs })
    if (decision.degraded === 'open') return next()
    if (decision.degraded === 'closed') throw new Error('the store of the rate limiter is down')
    const info = infoOf(decision, key, windowMs)
    Object.assign(request, { [requestPropertyName]: info })
    const resetSeconds = Math.ceil((limit === 0 ? windowMs : decision.resetAfterMs) / 1000)
    if (legacyHeaders) setLegacyHeaders(response, info)
    if (standardHeaders !== false) {
      const name = options.identifier && (await answerOf(options.identifier, request, response))
      setStandardHeaders(response, standardHeaders, info, resetSeconds, windowMs, name)
    }
    if (decision.allowed) {
      refundLater(decision, request, response)
      return next()
    }
    if (legacyHeaders || standardHeaders !== false) response.setHeader('Retry-After', resetSeconds)
    await options.handler(request, response, next, options)
  }

  /** A request counts unless its response says otherwise. */
  function refundLater(decision: Decision, request: Request, response: Response): void {
    const { skipFailedRequests, skipSuccessfulRequests } = options
    if (!skipFailedRequests && !skipSuccessfulRequests) return
    response.once('close', async () => {
      const succeeded = response.writableFinished && (await options.requestWasSuccessful(request, response))
      if (succeeded ? skipSuccessfulRequests : skipFailedRequests) await limiter.refund(decision)
    })
  }

  const middleware = (request: Request, response: Response, next: NextFunction) =>
    void limited(request, response, next).catch(next)
  const subjectOf = (key: string) => {
    if (typeof options.limit === 'number') return { key, limit: options.limit, windowMs }
    throw expected('SLUICE_NOT_SUPPORTED', 'getKey() and resetKey() with limit as a number', options.limit)
  }
  return Object.assign(middleware, {
    async resetKey(key: string): Promise<void> {
      await limiter.reset(subjectOf(key))
    },
    async getKey(key: string): ReturnType<RateLimitRequestHandler['getKey']> {
      const { used, resetTime } = infoOf(await limiter.peek(subjectOf(key), { cost: 0 }), key, windowMs)
      return used === 0 ? undefined : { totalHits: used, resetTime }
    },
  })
}

export default rateLimit
export type { ExpressRateLimitInfo as RateLimitInfo }

/**
 * Numbers the limiters in the order in which an application makes them, which is the same in each of its processes.
 * Each counts for itself.
 */
let made = 0

/** An address as a key; for an IPv6 address, its network. */
export function ipKeyGenerator(ip: string | undefined, ipv6Subnet = 56): string {
  return clientAddress({ ipv6Prefix: ipv6Subnet })(ip, () => undefined)
}

async function answerOf<T>(value: PerRequest<T>, request: Request, response: Response): Promise<T> {
  return typeof value === 'function'
    ? (value as (request: Request, response: Response) => T | Promise<T>)(request, response)
    : value
}

/** A limit of 0 has no window that ends. As in express-rate-limit, the reset is a whole window away. */
function infoOf({ limit, remaining, at, resetAt }: Decision, key: string, windowMs: number): ExpressRateLimitInfo {
  const resetTime = new Date(Math.ceil(limit === 0 ? at + windowMs : resetAt))
  return { limit, used: limit - remaining, remaining, resetTime, key }
}

async function sendMessage(request: Request, response: Response, _: NextFunction, options: Options): Promise<void> {
  response.status(options.statusCode)
  const message: unknown = await answerOf(options.message, request, response)
  if (!response.writableEnded) response.send(message)
}
