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

/** Reads a body of known size in one piece where it comes in one. */
export function readBody(request: IncomingMessage, then: (error: BadRequest | undefined, text: string) => void): void {
  const chunks: Buffer[] = []
  let bytes = 0
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > MOST_BYTES) {
      request.removeAllListeners('data')
      request.resume()
      then(new BadRequest(413, `expected a body of at most ${MOST_BYTES} bytes`), '')
      return
    }
    chunks.push(chunk)
  })
  request.on('end', () => {
    if (bytes > MOST_BYTES) return
    const whole = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
    then(undefined, whole.toString('utf8'))
  })
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
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': length, ...fields })
  response.end(body)
}
