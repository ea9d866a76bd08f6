import type { IncomingMessage, ServerResponse } from 'node:http'

/** What a route answers. */
export interface Answer {
  readonly status: number
  readonly body: string | Buffer
  readonly type?: string
  readonly fields?: Readonly<Record<string, string>>
}

/** A request that is the caller's mistake: the status, and what to do about it. */
export class BadRequest extends Error {
  override readonly name = 'BadRequest'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const JSON_TYPE = 'application/json'
export const MOST_BYTES = 1_048_576

/** Reads a body; one that came whole in its first piece, as most do, is not waited for any longer. */
export function readBody(request: IncomingMessage, then: (error: BadRequest | undefined, text: string) => void): void {
  const length = Number(request.headers['content-length'] ?? NaN)
  const chunks: Buffer[] = []
  let bytes = 0
  let isRead = false
  const done = (error?: BadRequest) => {
    if (isRead) return
    isRead = true
    const whole = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
    then(error, error === undefined ? whole.toString('utf8') : '')
  }
  request.on('data', (chunk: Buffer) => {
    if (isRead) return
    bytes += chunk.length
    chunks.push(chunk)
    if (bytes > MOST_BYTES) done(new BadRequest(413, `expected a body of at most ${MOST_BYTES} bytes`))
    else if (bytes === length) done()
  })
  request.on('end', () => done())
}

export function json(status: number, value: unknown, fields?: Answer['fields']): Answer {
  return { status, body: JSON.stringify(value), ...(fields !== undefined && { fields }) }
}

export function problem(status: number, message: string): Answer {
  return { status, body: JSON.stringify({ error: message }) }
}

/** One write: status line, fields and body together. */
export function send(response: ServerResponse, { status, body, type = JSON_TYPE, fields }: Answer): void {
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  const own = { 'Content-Type': type, 'Content-Length': length }
  response.writeHead(status, fields === undefined ? own : { ...own, ...fields })
  response.end(body)
}
