/**
 * Finds the template of the route that will serve a request, before the router has come to it: `app.use(rateLimit())`
 * stands in front of the routes. The router's own layers are asked, so what matches here is what will match there.
 */

export interface RoutedRequest {
  method?: string | undefined
  originalUrl?: string
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

export function routeOf(request: RoutedRequest, target: string): string | undefined {
  const layers = layersOf(request.app)
  if (layers === undefined) return undefined
  const end = target.indexOf('?')
  const method = (request.method ?? 'GET').toLowerCase()
  return find(layers, end === -1 ? target : target.slice(0, end), method === 'head' ? 'get' : method)
}

/** Express 4 has its router in `_router`, and a `router` that throws; Express 5 has `router`. */
function layersOf(app: unknown): readonly Layer[] | undefined {
  const { _router: older } = (app ?? {}) as { _router?: { stack?: Layer[] } }
  return (older ?? (app as { router?: { stack?: Layer[] } } | undefined)?.router)?.stack
}

function find(layers: readonly Layer[], path: string, method: string): string | undefined {
  for (const layer of layers) {
    const { route, handle } = layer
    const inner = route === undefined ? handle?.stack : undefined
    if ((route === undefined && inner === undefined) || !matches(layer, path)) continue
    if (route !== undefined) {
      if (takes(route.methods, method)) return templateOf(route.path)
      continue
    }
    const mounted = mountOf(layer)
    const rest = path.slice(layer.path?.length ?? 0)
    const found = find(inner!, rest.startsWith('/') ? rest : `/${rest}`, method)
    if (found !== undefined) return joinPaths(mounted, found)
  }
  return undefined
}

/** A path that cannot be decoded throws, here as in the router. */
function matches(layer: Layer, path: string): boolean {
  try {
    return layer.match(path)
  } catch {
    return false
  }
}

function takes(methods: Readonly<Record<string, boolean>> | undefined, method: string): boolean {
  return methods?._all === true || methods?.[method] === true
}

function templateOf(path: unknown): string {
  return Array.isArray(path) ? path.map(String).join('|') : String(path)
}

/** A router does not keep what it was mounted at, only what that matched: parameters are put back in their places. */
function mountOf({ path = '', params = {} }: Layer): string {
  const names = Object.entries(params)
  return path
    .split('/')
    .map(segment => {
      const at = names.findIndex(([, value]) => value === decoded(segment))
      return at === -1 ? segment.toLowerCase() : `:${names.splice(at, 1)[0]![0]}`
    })
    .join('/')
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
