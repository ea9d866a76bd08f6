import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { StoreUnavailable } from 'sluice'
import { JoinedChunks } from '../net/joined-chunks.ts'

/** The response of a route. */
export interface HttpAnswer {
  readonly status: number
  readonly body: string | Buffer
  readonly type?: string
  readonly fields?: Readonly<Record<string, string>>
}

/** The caller sent a bad request. `message` says how to mend it. */
export class BadRequest extends Error {
  override readonly name = 'BadRequest'
  readonly status: number
  readonly fields: HttpAnswer['fields']

  constructor(status: number, message: string, fields?: HttpAnswer['fields']) {
    super(message)
    this.status = status
    this.fields = fields
  }
}

/** Whether the library threw this because of the caller's mistake, here or in the deciding process. An outage is not one. */
export function isMisuse(error: unknown): error is Error {
  const { code } = Object(error) as { code?: unknown }
  return error instanceof Error && !(error instanceof StoreUnavailable) && String(code).startsWith('SLUICE_')
}

export const JSON_TYPE = 'application/json'
const MOST_BYTES = 1_048_576

/** Reads a body. Most bodies arrive whole in the first chunk; this does not wait any longer for those. */
export function readBody(request: IncomingMessage, then: (error: BadRequest | undefined, text: string) => void): void {
  const length = Number(request.headers['content-length'] ?? NaN)
  const body = new JoinedChunks()
  let isRead = false
  const done = (error?: BadRequest) => {
    if (isRead) return
    isRead = true
    if (error !== undefined) return then(error, '')
    const { whole } = body
    // Decoding invalid bytes would turn them all into one character, so that different callers would become one.
    if (!isUtf8(whole)) return then(new BadRequest(400, 'expected a body in UTF-8'), '')
    then(undefined, whole.toString('utf8'))
  }
  request.on('data', (chunk: Buffer) => {
    if (isRead) return
    if (body.size + chunk.length > MOST_BYTES) {
      done(new BadRequest(413, `expected a body of at most ${MOST_BYTES} bytes`))
      return
    }
    body.add(chunk)
    if (body.size === length) done()
  })
  request.on('end', () => done())
}

export function json(status: number, value: unknown, fields?: HttpAnswer['fields']): HttpAnswer {
  return { status, body: JSON.stringify(value), ...(fields !== undefined && { fields }) }
}

export function problem(status: number, message: string, fields?: HttpAnswer['fields']): HttpAnswer {
  return json(status, { error: message }, fields)
}

/** One write: status line, fields and body together. */
export function send(response: ServerResponse, { status, body, type = JSON_TYPE, fields }: HttpAnswer): void {
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  const own = { 'Content-Type': type, 'Content-Length': length }
  response.writeHead(status, fields === undefined ? own : { ...own, ...fields })
  response.end(body)
}
