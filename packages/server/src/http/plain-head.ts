import type { ApiRoute } from './route.ts'

/** A head that callers send again and again with different bodies. */
export interface PlainHead {
  readonly route: ApiRoute
  /** The length of the body in bytes. */
  readonly length: number
  readonly authorization: string | undefined
  readonly host: string | undefined
  readonly origin: string | undefined
}

const END = '\r\n\r\n'
const FIELD = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/
const LENGTH = /^\d{1,6}$/
/** Enough for heads that differ only in the length of the body. A caller that sends ever new heads only empties the cache. */
const MOST_KNOWN = 1000
const LONGEST = 4096

/**
 * Reads only unambiguous heads: HTTP/1.1, a POST to a check route of the API, one length, no transfer coding, no
 * connection options. Node reads all others, because this must never understand a request differently than Node does.
 * Most callers send the same head again and again, so each head is parsed once.
 */
export class PlainHeads {
  private readonly routes: ReadonlyMap<string, ApiRoute>
  private readonly known = new Map<string, PlainHead>()

  constructor(routes: readonly ApiRoute[]) {
    const plain = routes.filter(({ method, right }) => method === 'POST' && right === 'check')
    this.routes = new Map(plain.map(route => [`POST ${route.path} HTTP/1.1`, route]))
  }

  /** Where the body starts in a text that begins with a head, or -1. */
  endIn(text: string): number {
    const end = text.indexOf(END)
    return end === -1 || end > LONGEST ? -1 : end + END.length
  }

  /** `head` includes the empty line that ends it. */
  read(head: string): PlainHead | undefined {
    const known = this.known.get(head)
    if (known !== undefined) return known
    const read = this.readAnew(head)
    if (read === undefined) return undefined
    if (this.known.size >= MOST_KNOWN) this.known.clear()
    // Stores a copy: a slice would keep the whole chunk in memory.
    this.known.set(Buffer.from(head, 'latin1').toString('latin1'), read)
    return read
  }

  private readAnew(head: string): PlainHead | undefined {
    const [first, ...lines] = head.slice(0, -END.length).split('\r\n')
    const route = this.routes.get(first!)
    const fields = route === undefined ? undefined : fieldsOf(lines)
    if (route === undefined || fields === undefined || !fields.has('host')) return undefined
    const length = fields.get('content-length') ?? ''
    const connection = fields.get('connection') ?? 'keep-alive'
    if (!LENGTH.test(length) || connection.toLowerCase() !== 'keep-alive') return undefined
    const value = (name: string) => fields.get(name)?.trimEnd()
    const [authorization, host, origin] = [value('authorization'), value('host'), value('origin')]
    return { route, length: Number(length), authorization, host, origin }
  }
}

/** Fields that change how the body is read or what happens to the connection. Only Node handles them. */
const SPECIAL = ['transfer-encoding', 'expect', 'upgrade', 'trailer', 'te', 'keep-alive', 'http2-settings']
/** Fields that are used here. If one of them is repeated, the request is ambiguous, so Node reads it. */
const LONE = ['host', 'content-length', 'connection', 'authorization', 'origin']

/** The fields by lower-case name; values may end in spaces. Undefined if a field is not plain. */
function fieldsOf(lines: readonly string[]): Map<string, string> | undefined {
  const fields = new Map<string, string>()
  for (const line of lines) {
    const [, name, value] = FIELD.exec(line) ?? []
    const lower = name?.toLowerCase()
    if (lower === undefined || SPECIAL.includes(lower)) return undefined
    if (LONE.includes(lower) && fields.has(lower)) return undefined
    fields.set(lower, value!)
  }
  return fields
}
