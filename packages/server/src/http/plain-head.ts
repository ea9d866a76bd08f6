import type { ApiRoute } from './route.ts'

/** The head of a request of which nothing but its body differs from the next one. */
export interface PlainHead {
  readonly route: ApiRoute
  /** Of its body, in bytes. */
  readonly length: number
  readonly authorization: string | undefined
  readonly host: string | undefined
  readonly origin: string | undefined
}

const END = '\r\n\r\n'
const FIELD = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/
const LENGTH = /^\d{1,6}$/
/** Callers of one kind differ in the lengths of their bodies; of who sends ever new heads nothing is kept for long. */
const MOST_KNOWN = 1000
const LONGEST = 4096

/**
 * Reads heads that can be understood in one way only: HTTP/1.1, a POST of the API that anybody may call who may check, one
 * length, no coding, no wish about the connection. All others are Node's to read: this must never see in a request anything
 * else than Node does. Most callers send the same head again and again, so each is read once.
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

  /** `head` up to and with its empty line. */
  read(head: string): PlainHead | undefined {
    const known = this.known.get(head)
    if (known !== undefined) return known
    const read = this.readAnew(head)
    if (read === undefined) return undefined
    if (this.known.size >= MOST_KNOWN) this.known.clear()
    // A copy: a part of a text keeps all of it.
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

/** What says how the rest is to be read, or something about the connection that only Node knows to do. */
const SPECIAL = ['transfer-encoding', 'expect', 'upgrade', 'trailer', 'te', 'keep-alive', 'http2-settings']
/** What decides here: more than one of it could be read in more than one way. */
const LONE = ['host', 'content-length', 'connection', 'authorization', 'origin']

/** By name in lower case, with whatever space there is at their ends; undefined where something is not plain. */
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
