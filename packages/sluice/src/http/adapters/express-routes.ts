/**
 * Finds the template of the route that will serve a request, before the router has come to it: `app.use(rateLimit())`
 * stands in front of the routes. The router's own layers are asked, so what matches here is what will match there.
 */

export interface RoutedRequest {
  method?: string | undefined
  /** What mounted routers have taken off the path so far, and what is left of it: as Express itself reads the target. */
  readonly baseUrl?: string
  readonly path?: string
  readonly app?: unknown
}

/** A router of Express 4 and 5, as far as it tells what is registered. */
interface Layer {
  match(path: string): boolean
  readonly path?: string | undefined
  readonly params?: Readonly<Record<string, unknown>> | undefined
  readonly route?: { readonly path: unknown; readonly methods?: Readonly<Record<string, boolean>> } | undefined
  readonly handle?: { readonly stack?: readonly Layer[] }
}

export function routeOf({ app, baseUrl = '', path = '/', method = 'GET' }: RoutedRequest): string | undefined {
  const layers = layersOf(app)
  if (layers === undefined) return undefined
  const mounted = placeOf(app)
  const whole = path === '/' && baseUrl !== '' ? baseUrl : baseUrl + path
  const found = find(layers, pathInside(mounted, whole), method.toLowerCase())
  return found === undefined ? undefined : joinPaths(mounted, found)
}

/** What is left of a path for an application that is mounted there. */
function pathInside(mounted: string, whole: string): string {
  if (mounted === '' && whole.startsWith('/')) return whole
  return `/${whole.split('/').slice(mounted.split('/').length).join('/')}`
}

/** The template that an application is mounted at in another one; nothing for the one at the top. */
function placeOf(app: unknown): string {
  const place = (app as { path?: () => string }).path?.() ?? ''
  return place === '' ? '' : place.replace(/\/+$/, '')
}

/** Express 4 has its router in `_router`, and a `router` that throws; Express 5 has `router`. */
function layersOf(app: unknown): readonly Layer[] | undefined {
  const { _router: older } = (app ?? {}) as { _router?: { stack?: Layer[] } }
  return (older ?? (app as { router?: { stack?: Layer[] } } | undefined)?.router)?.stack
}

/** The first that matches. A pattern for many paths is middleware as a rule, or what serves the rest: it comes last. */
function find(layers: readonly Layer[], path: string, method: string): string | undefined {
  let broad: string | undefined
  for (const layer of layers) {
    const found = templateIn(layer, path, method)
    if (found !== undefined && !found.includes('*')) return found
    broad ??= found
  }
  return broad
}

function templateIn(layer: Layer, path: string, method: string): string | undefined {
  const { route, handle } = layer
  if (route !== undefined)
    return takes(route.methods, method) && matches(layer, path) ? templateOf(route.path) : undefined
  if (handle?.stack === undefined || !matches(layer, path)) return undefined
  const mounted = mountOf(layer)
  const rest = path.slice(layer.path?.length ?? 0)
  const found = find(handle.stack, rest.startsWith('/') ? rest : `/${rest}`, method)
  return found === undefined ? undefined : joinPaths(mounted, found)
}

/** A path that cannot be decoded throws, here as in the router. */
function matches(layer: Layer, path: string): boolean {
  try {
    return layer.match(path)
  } catch {
    return false
  }
}

function takes(methods: Readonly<Record<string, boolean>> = {}, method: string): boolean {
  return methods._all === true || methods[method] === true || (method === 'head' && methods.get === true)
}

function templateOf(path: unknown): string {
  return Array.isArray(path) ? path.map(String).join('|') : String(path)
}

/**
 * A router does not keep what it was mounted at, only what that matched: parameters are put back in their places. Where
 * one is no whole segment, its place is not known, and the text must not stand for it: anybody could make up more.
 */
function mountOf({ path = '', params = {} }: Layer): string {
  const names = Object.entries(params)
  const segments = path.split('/').filter(segment => segment !== '')
  const places = segments.map(segment => {
    const at = names.findIndex(([, value]) => value === decoded(segment))
    return at === -1 ? `/${segment.toLowerCase()}` : `/:${names.splice(at, 1)[0]![0]}`
  })
  return names.length === 0 ? places.join('') : '/*'
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

function joinPaths(mounted: string, found: string): string {
  return found === '/' && mounted !== '' ? mounted : mounted + found
}
