/** A route's `config` as the user wrote it, with the template and the methods that Fastify adds. */
export interface RouteConfig {
  readonly url?: string | undefined
  readonly method?: string | readonly string[] | undefined
  readonly rateLimit?: unknown
}

/** The parts of a Fastify request that tell its route. */
export interface Routed {
  readonly routeOptions: RouteConfig & { readonly config?: RouteConfig | undefined }
}

const NO_CONFIG: RouteConfig = {}

/** The symbol under which a Fastify request keeps the context of its route. */
let place: symbol | undefined

/**
 * The config of the route that serves a request. `request.routeOptions` builds a large object on every read, which
 * costs more than a decision. So this reads it once, to find the symbol under which the request holds the same config.
 * If a request lacks that symbol, it comes from another copy of Fastify, and this finds the symbol again.
 */
export function configOf(request: Routed): RouteConfig {
  const route = place === undefined ? undefined : (request as RequestWithRoute)[place]
  return route === undefined ? askedFor(request) : (route.config ?? NO_CONFIG)
}

type RequestWithRoute = Routed & { readonly [place: symbol]: { readonly config?: RouteConfig | undefined } | undefined }

function askedFor(request: Routed): RouteConfig {
  const { routeOptions } = request
  const { config } = routeOptions
  if (config === undefined) return routeOptions // Fastify 4.10 to 4.20 have no `config` here
  place = Object.getOwnPropertySymbols(request).find(symbol => (request as RequestWithRoute)[symbol]?.config === config)
  return config
}
