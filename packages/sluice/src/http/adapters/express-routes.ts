/**
 * Finds the template of the route that will serve a request before the router runs, since `app.use(rateLimit())` stands
 * in front of the routes. It asks the router's own layers, so a path matches here exactly if it will match there.
 */

export interface RoutedRequest {
  method?: string | undefined
  /** Express sets both: `baseUrl` is the prefix that mounted routers have removed, `path` is what is left. */
  readonly baseUrl?: string
  readonly path?: string
  readonly app?: unknown
}

/** One entry of the `stack` of an Express 4 or 5 router. */
interface ExpressLayer {
  match(path: string): boolean
  readonly path?: string | undefined
  readonly params?: Readonly<Record<string, unknown>> | undefined
  readonly route?: { readonly path: unknown; readonly methods?: Readonly<Record<string, boolean>> } | undefined
  readonly handle?: { readonly stack?: readonly ExpressLayer[] }
}

export function routeOf({ app, baseUrl = '', path = '/', method = 'GET' }: RoutedRequest): string | undefined {
  const layers = layersOf(app)
  if (layers === undefined) return undefined
  const mounted = placeOf(app)
  const whole = path === '/' && baseUrl !== '' ? baseUrl : baseUrl + path
  const found = find(layers, pathInside(mounted, whole), method.toLowerCase())
  return found === undefined ? undefined : joinPaths(mounted, found)
}

/** The path without the prefix that an application is mounted at. */
function pathInside(mounted: string, whole: string): string {
  if (mounted === '' && whole.startsWith('/')) return whole
  return `/${whole.split('/').slice(mounted.split('/').length).join('/')}`
}

/** The template of the path that an application is mounted at; '' for the top application. */
function placeOf(app: unknown): string {
  const place = (app as { path?: () => string }).path?.() ?? ''
  return place === '' ? '' : place.replace(/\/+$/, '')
}

/** Express 5 has the router in `router`. Express 4 has it in `_router`, and its `router` throws when it is read. */
function layersOf(app: unknown): readonly ExpressLayer[] | undefined {
  const { _router: older } = (app ?? {}) as { _router?: { stack?: ExpressLayer[] } }
  return (older ?? (app as { router?: { stack?: ExpressLayer[] } } | undefined)?.router)?.stack
}

/**
 * The first route that matches. A wildcard is usually middleware or a fallback, so it is taken only if nothing else
 * matches.
 */
function find(layers: readonly ExpressLayer[], path: string, method: string): string | undefined {
  let broad: string | undefined
  for (const layer of layers) {
    const found = templateIn(layer, path, method)
    if (found !== undefined && !found.includes('*')) return found
    broad ??= found
  }
  return broad
}

function templateIn(layer: ExpressLayer, path: string, method: string): string | undefined {
  const { route, handle } = layer
  if (route !== undefined)
    return takes(route.methods, method) && matches(layer, path) ? templateOf(route.path) : undefined
  if (handle?.stack === undefined || !matches(layer, path)) return undefined
  const mounted = mountOf(layer)
  const rest = path.slice(layer.path?.length ?? 0)
  const found = find(handle.stack, rest.startsWith('/') ? rest : `/${rest}`, method)
  return found === undefined ? undefined : joinPaths(mounted, found)
}

/** `match` throws if the path cannot be decoded; the router will not serve such a path either. */
function matches(layer: ExpressLayer, path: string): boolean {
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
 * The template of a mount path. A router keeps only the text that the mount path matched, so this replaces the values
 * of parameters by their names. If a parameter is not a whole segment, the result is `/*`: with the text itself, a
 * client could make up new routes.
 */
function mountOf({ path = '', params = {} }: ExpressLayer): string {
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
