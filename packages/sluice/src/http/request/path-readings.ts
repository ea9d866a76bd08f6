/**
 * How servers read the path of a request. They agree on plain paths. On other paths they differ in what separates
 * segments, what they decode, and whether and when they resolve dots. A limit on a route has to hold whichever server is
 * behind it, so this lists every reading of a path that some server uses.
 */

/** What one server makes of a path. */
interface PathReading {
  /** In `//x/login`, `x` is the host, as in `new URL('//x/login', base)`. */
  readonly host?: true
  /** A backslash separates segments. */
  readonly backslash?: true
  /** A semicolon begins the parameters of its segment, or the query. If undefined, it is an ordinary character. */
  readonly semicolon?: 'parameters' | 'query'
  /** `%2F` separates segments: the server decodes it before it resolves dot segments, or after. */
  readonly encodedSlash?: 'before dots' | 'after dots'
  /** The server resolves dot segments in every spelling (`%2e` too), or only those spelt `.`. */
  readonly dots?: 'all' | 'raw'
  /** Empty segments count: `..` removes one, so `/a//..` leads to `/a`. If undefined, slashes in a row count as one slash. */
  readonly emptySegments?: true
}

/**
 * The first reading resolves the most. Code that needs a single path for a request uses that one. Each other reading is
 * the only one by which some server reaches a route; `spellings.test.ts` has a target for each.
 */
const READINGS: readonly PathReading[] = [
  { backslash: true, semicolon: 'parameters', encodedSlash: 'before dots', dots: 'all' },
  // nginx; the second is nginx with `merge_slashes off`
  { encodedSlash: 'before dots', dots: 'all' },
  { encodedSlash: 'before dots', dots: 'all', emptySegments: true },
  // WHATWG URLs, also in Hono and fetch; the second for handlers that decode the path afterwards
  { host: true, backslash: true, dots: 'all', emptySegments: true },
  { host: true, backslash: true, dots: 'all', emptySegments: true, encodedSlash: 'after dots' },
  // Express, Koa and find-my-way take segments as they come; url.parse reads backslashes
  {},
  { backslash: true },
  // Fastify 4, and 5 with `useSemicolonDelimiter`
  { semicolon: 'query' },
  // path.normalize
  { dots: 'raw' },
  // handlers that decode the path and then split it
  { encodedSlash: 'after dots' },
]

/** A path with none of these reads the same everywhere. */
const UNPLAIN = /[%\\;]|\/\/|\/\.\.?(?:\/|$)|[^\0-\x7f]/

/** The segments of a path, decoded and in lower case, for each reading. Equal results appear once. */
export function readingsOf(target: string): readonly (readonly string[])[] {
  const path = pathOf(target)
  if (!UNPLAIN.test(path)) return [bounded(path.split('/').filter(isNotEmpty).map(inLowerCase))]
  const readings = new Map<string, readonly string[]>()
  for (const reading of READINGS) {
    const segments = bounded(segmentsIn(path, reading))
    readings.set(pathFrom(segments), segments)
  }
  return [...readings.values()]
}

/** The normalized paths that servers may read a target as. The first is the reading that resolves the most. */
export function pathsOf(target: string): readonly string[] {
  return readingsOf(target).map(pathFrom)
}

/** The normalized spelling of a path. */
export function canonicalPath(target: string): string {
  return pathsOf(target)[0]!
}

/** A slash within a segment stays encoded, so that `/a%2fb` and `/a/b` differ where a server tells them apart. */
function pathFrom(segments: readonly string[]): string {
  return `/${segments.map(segment => segment.replaceAll('/', '%2f')).join('/')}`
}

function segmentsIn(path: string, reading: PathReading): string[] {
  const { host, backslash, semicolon, encodedSlash, dots, emptySegments } = reading
  let text = backslash ? path.replaceAll('\\', '/') : path
  if (host) text = text.replace(/^\/\/+[^/]*/, '')
  if (semicolon === 'query') text = text.replace(/;.*$/s, '')
  if (encodedSlash === 'before dots') text = withSlashes(text, backslash)
  const found: string[] = []
  for (const part of text.split('/')) {
    if (part === '' && !emptySegments) continue
    const name = nameOf(dots === 'raw' ? part : decoded(part), reading)
    if (name === '..' && dots !== undefined) found.pop()
    else if (name !== '.' || dots === undefined) found.push(part)
  }
  const parts = encodedSlash === 'after dots' ? withSlashes(found.join('/'), backslash).split('/') : found
  return parts.map(part => inLowerCase(nameOf(decoded(part), reading))).filter(isNotEmpty)
}

function withSlashes(text: string, backslash: true | undefined): string {
  return text.replace(backslash ? /%2f|%5c/gi : /%2f/gi, '/')
}

function nameOf(part: string, { semicolon }: PathReading): string {
  const end = semicolon === 'parameters' ? part.indexOf(';') : -1
  return end === -1 ? part : part.slice(0, end)
}

/** No route has more segments. Dots are resolved before the cut, and a template that ends in `*` still matches. */
const MOST_SEGMENTS = 64

function bounded(segments: string[]): readonly string[] {
  return segments.length > MOST_SEGMENTS ? segments.slice(0, MOST_SEGMENTS + 1) : segments
}

/** Without scheme, host, query and fragment. */
function pathOf(target: string): string {
  const path = target.startsWith('/') ? target : target.replace(SCHEME_AND_HOST, '')
  const end = path.search(/[?#]/)
  return end === -1 ? path : path.slice(0, end)
}

const SCHEME_AND_HOST = /^[a-z][a-z\d+.-]*:\/\/[^/\\?#]*/i

/**
 * Decodes byte by byte, so that invalid UTF-8 does not keep the rest from being decoded. Node passes the raw bytes of a
 * target as characters up to U+00FF, so this reads those characters as bytes, too.
 */
function decoded(part: string): string {
  return part.replace(BYTES, run => {
    const bytes = run
      .match(BYTE)!
      .map(byte => (byte.length === 1 ? byte.charCodeAt(0) : Number.parseInt(byte.slice(1), 16)))
    return utf8.decode(Uint8Array.from(bytes))
  })
}

const BYTE = /%[\da-f]{2}|[\x80-\xff]/gi
const BYTES = /(?:%[\da-f]{2}|[\x80-\xff])+/gi
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

function inLowerCase(text: string): string {
  return text.toLowerCase()
}

function isNotEmpty(text: string): boolean {
  return text !== ''
}
