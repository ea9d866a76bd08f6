/** What Fastify knows of a route: its `config` as the user wrote it, with the template and the methods added. */
export interface RouteConfig {
  readonly url?: string | undefined
  readonly method?: string | readonly string[] | undefined
  readonly rateLimit?: unknown
}

/** A request that tells its route. */
export interface Routed {
  readonly routeOptions: RouteConfig & { readonly config?: RouteConfig | undefined }
}

const NO_CONFIG: RouteConfig = {}

/** Where a request keeps what its route was registered with: under a symbol of Fastify's own. */
let place: symbol | undefined

/**
 * The config of the route that serves a request. `request.routeOptions` tells it too, but makes an object of all that is
 * known of a route each time, which costs more than to decide on a limit. So that is asked once, for the place where the
 * request has the same config by another way; a request that has none there, of another copy of Fastify, is asked again.
 */
export function configOf(request: Routed): RouteConfig {
  const route = place === undefined ? undefined : (request as Placed)[place]
  return route === undefined ? askedFor(request) : (route.config ?? NO_CONFIG)
}

type Placed = Routed & { readonly [place: symbol]: { readonly config?: RouteConfig | undefined } | undefined }

function askedFor(request: Routed): RouteConfig {
  const { routeOptions } = request
  const { config } = routeOptions
  if (config === undefined) return routeOptions // the first versions that have it tell no config
  place = Object.getOwnPropertySymbols(request).find(symbol => (request as Placed)[symbol]?.config === config)
  return config
}
