import type { Key } from '../../limiter/key.ts'
import type { Policy } from '../../policy.ts'
import type { WarningCode } from '../../warning.ts'
import type { Site } from './request-reading.ts'

/** How an adapter reads its framework's request. */
export interface Reader<Raw, Reply> {
  method(raw: Raw): string
  /** The requested path; a query may follow it. */
  target(raw: Raw): string
  /** One header; several lines of it are joined by `, `. Callers pass the name in lower case. */
  header(raw: Raw, name: string): string | undefined
  /** Whether a header was sent. Adapters have this only if it is cheaper than reading the header. */
  has?(raw: Raw, name: string): boolean
  /** The address at the other end of the socket, if the runtime tells it. */
  peer(raw: Raw): string | undefined
  /** A warning if the framework was told to believe forwarding headers, which the guard does not ask. */
  ownTrust?(raw: Raw): string | undefined
  /** The template of the route that serves the request (`/orders/:id`), if the framework can tell. */
  route?(raw: Raw): string | undefined
  /** Calls back when the client has gone. The function it returns removes the callback. */
  onClose(reply: Reply, callback: () => void): () => void
}

/** What a guard knows about every request. */
interface KnownFacts<Raw> {
  /** The client's address in its normalized spelling. Behind trusted proxies it is the address that they name. */
  readonly ip: string
  /** The template of the matched route, `/orders/:id`; undefined if none matches. Never the raw path. */
  readonly route: string | undefined
  /** The method as it was sent, except that HEAD counts as GET. */
  readonly method: string
  header(name: string): string | undefined
  /** The framework's own request or context. */
  readonly raw: Raw
}

/**
 * What functions of the user receive: the framework's own request (in Koa and Hono, the context) with these facts added,
 * so that both `r.auth?.userId` and `r.route` work.
 */
export type RequestView<Raw = unknown> = KnownFacts<Raw> & Omit<Raw, keyof KnownFacts<Raw>>

/** One request. Each fact is read once, when it is first needed. */
export class RequestFacts<R = RequestView> {
  readonly raw: unknown
  /** What functions chose for this request, by the index of the limit. The key is null if the limit does not apply. */
  chosen: (Policy | undefined)[] | undefined
  keys: (Key | null | undefined)[] | undefined
  costs: (number | undefined)[] | undefined
  private readonly reader: Reader<unknown, never>
  private readonly site: Site
  private address: string | undefined
  private template: string | null | undefined
  private others: readonly RequestFacts<R>[]
  private proxy: R | undefined

  constructor(raw: unknown, reader: Reader<unknown, never>, site: Site) {
    this.raw = raw
    this.reader = reader
    this.site = site
    this.chosen = undefined
    this.keys = undefined
    this.costs = undefined
    this.address = undefined
    this.template = null
    this.others = NO_OTHERS
    this.proxy = undefined
  }

  get ip(): string {
    this.address ??= this.readAddress(this.site.clientAddress)
    return this.address
  }

  /** The client's address, not cut to its IPv6 network. */
  get wholeIp(): string {
    return this.readAddress(this.site.wholeAddress)
  }

  get route(): string | undefined {
    if (this.template === null) this.template = this.readRoute()
    return this.template
  }

  /**
   * The same request at each other route that some server finds in its path; nearly always empty. The guard does not know
   * which server is behind it, so a limit applies if it applies at any of these routes, and an exemption only if it
   * applies at all of them.
   */
  get elsewhere(): readonly RequestFacts<R>[] {
    if (this.template === null) this.template = this.readRoute()
    return this.others
  }

  get method(): string {
    const method = this.reader.method(this.raw)
    return method === 'HEAD' ? 'GET' : method
  }

  header(name: string): string | undefined {
    return this.reader.header(this.raw, name.toLowerCase())
  }

  /** Whether this is a CORS preflight: the browser sends it on its own, so it is not a request that the caller made. */
  get isPreflight(): boolean {
    const { raw, reader } = this
    if (reader.method(raw) !== 'OPTIONS' || !this.isCrossOrigin) return false
    return reader.header(raw, 'access-control-request-method') !== undefined
  }

  /** Whether a page of another origin sent the request. */
  get isCrossOrigin(): boolean {
    const { raw, reader } = this
    return reader.has === undefined ? reader.header(raw, 'origin') !== undefined : reader.has(raw, 'origin')
  }

  /** Warns once of something that is probably a mistake. */
  warn(code: WarningCode, message: string): void {
    this.site.warn(code, message)
  }

  /** Whether `X-Forwarded-For` was sent and is ignored, because the peer is not trusted. */
  get isForwardingIgnored(): boolean {
    const { raw, reader, site } = this
    if (reader.header(raw, 'x-forwarded-for') === undefined) return false
    return site.trustsNobody || !site.isTrusted(reader.peer(raw) ?? '')
  }

  /** What functions of the user receive. */
  get view(): R {
    this.proxy ??= new Proxy(this as object as RequestFacts, onTop) as R
    return this.proxy
  }

  private readAddress(find: Site['clientAddress']): string {
    const { raw, reader, site } = this
    return find(reader.peer(raw), site.trustsNobody ? noHeader : name => reader.header(raw, name))
  }

  private readRoute(): string | undefined {
    const { routes } = this.site
    if (routes === undefined) return this.reader.route?.(this.raw)
    const templates = routes(this.reader.target(this.raw))
    if (templates.length > 1) this.others = templates.slice(1).map(template => this.at(template))
    return templates[0]
  }

  private at(template: string | undefined): RequestFacts<R> {
    const facts = new RequestFacts<R>(this.raw, this.reader, this.site)
    facts.template = template
    return facts
  }
}

function noHeader(): undefined {}

const NO_OTHERS: readonly never[] = []

/** The request that a user's function sees. */
export function factsOf<R>(view: R): RequestFacts<R> {
  return (view as { readonly [ITSELF]: RequestFacts<R> })[ITSELF]
}

/** Both builds of the package (ESM and CommonJS) share this, since a guard of one may get identities of the other. */
const ITSELF: unique symbol = Symbol.for('sluice.facts')
const FACTS: ReadonlySet<PropertyKey> = new Set(['ip', 'route', 'method', 'header', 'raw'])

/** Looks a property up in the facts first, then in the request. Methods of the request keep it as their `this`. */
const onTop: ProxyHandler<RequestFacts> = {
  get(facts, property) {
    if (FACTS.has(property)) {
      const fact = facts[property as 'ip']
      return typeof fact === 'function' ? (fact as (name: string) => unknown).bind(facts) : fact
    }
    if (property === ITSELF) return facts
    const raw = facts.raw as Record<PropertyKey, unknown>
    const value = raw[property]
    return typeof value === 'function' ? value.bind(raw) : value
  },
  has: (facts, property) => FACTS.has(property) || property in (facts.raw as object),
  set: () => false,
}
