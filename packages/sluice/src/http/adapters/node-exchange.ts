import type { Maybe } from '../../maybe.ts'
import type { Guard } from '../guard/guard.ts'
import { besideOthers, EXPOSE, exposed, inLowerCase, type Outcome } from '../guard/outcome.ts'
import type { Reader } from '../request/request-facts.ts'
import { GONE, type Refusal } from '../response/refusal.ts'
import { type ClosingResponse, whenGone } from './client-gone.ts'

/** The parts of a request of Node's `http` or `http2` that a guard reads. */
export interface NodeRequest {
  method?: string | undefined
  url?: string | undefined
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Name, value, name, value …, as they were sent. */
  readonly rawHeaders?: readonly string[] | undefined
  readonly socket?: Socket | null
}

interface Socket {
  readonly remoteAddress?: string | undefined
}

/** The parts of its response that a guard uses. */
export interface NodeResponse extends ClosingResponse {
  statusCode: number
  readonly headersSent: boolean
  readonly writableFinished: boolean
  /** Set for a response in HTTP/2. The code is 0 if the stream was not cancelled. */
  readonly stream?: { readonly rstCode?: number | undefined } | undefined
  setHeader(name: string, value: string): unknown
  getHeader(name: string): unknown
  /** In lower case. */
  getHeaderNames(): readonly string[]
  write: (...args: never[]) => boolean
  end: (...args: never[]) => unknown
  readonly req?: (NonNullable<ClosingResponse['req']> & { readonly method?: string | undefined }) | undefined
}

export type Next = (error?: unknown) => void

export const nodeReader: Reader<NodeRequest, NodeResponse> = {
  method: request => request.method ?? 'GET',
  target: request => request.url ?? '/',
  header(request, name) {
    const value = request.headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  },
  /** Reads `rawHeaders`, since Node builds `headers` on the first read. */
  has(request, name) {
    const { rawHeaders } = request
    if (rawHeaders === undefined || rawHeaders.length === 0) return request.headers[name] !== undefined
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const sent = rawHeaders[i]!
      if (sent.length === name.length && sent.toLowerCase() === name) return true
    }
    return false
  },
  peer: ({ socket }) => (socket ? addressOf(socket) : undefined),
  onClose: whenGone,
}

/** A connection's address never changes, and `remoteAddress` makes a system call. */
const addresses = new WeakMap<Socket, string>()

function addressOf(socket: Socket): string | undefined {
  let address = addresses.get(socket)
  if (address === undefined) {
    address = socket.remoteAddress
    if (address !== undefined) addresses.set(socket, address)
  }
  return address
}

/** Asks the guard, then sends the refusal or calls `next`. */
export function guardNode<Request extends NodeRequest>(
  guard: Guard,
  reader: Reader<Request, NodeResponse>,
  request: Request,
  response: NodeResponse,
  next: Next,
): void {
  const asked: Maybe<Outcome | undefined> = guard.ask(request, response, reader)
  if (asked instanceof Promise) {
    const carriedOut = unlessAnswered(asked, response, false, outcome => goesOn(outcome, request, response))
    carriedOut.then(goes => goes && next(), next)
  } else if (goesOn(asked, request, response)) next()
}

/**
 * Passes the outcome on, or `over` if something else, such as a timeout, has already answered the request. Then no more
 * can be sent, and the handler would only throw.
 */
export function unlessAnswered<T>(
  asked: Promise<Outcome | undefined>,
  response: NodeResponse,
  over: Maybe<T>,
  goOn: (outcome: Outcome | undefined) => Maybe<T>,
): Promise<T> {
  const wasAnswered = response.headersSent
  return asked.then(outcome => {
    if (wasAnswered || !response.headersSent) return goOn(outcome)
    if (outcome?.ended !== undefined) follow(outcome, response)
    return over
  })
}

/** Writes the outcome to the response, and returns whether the handler may run. */
function goesOn(outcome: Outcome | undefined, request: NodeRequest, response: NodeResponse): boolean {
  if (outcome === undefined) return true
  const refusal = writeFields(outcome, response)
  if (outcome.ended !== undefined) follow(outcome, response)
  if (refusal === undefined) return true
  sendRefusal(refusal, request, response)
  return false
}

/**
 * Sets the fields, and returns the refusal as the response tells it. Asks once which fields are set: a call on an
 * Express response is slow, because every response has its own shape.
 */
export function writeFields(outcome: Outcome, response: NodeResponse): Refusal | undefined {
  if (response.headersSent) return outcome.refusal
  const there = response.getHeaderNames()
  const sent = (name: string) => (there.includes(inLowerCase(name)) ? response.getHeader(name) : undefined)
  const { fields, expose, refusal } = besideOthers(outcome, sent)
  for (let i = 0; i < fields.length; i += 2) response.setHeader(fields[i]!, fields[i + 1]!)
  if (expose !== undefined) response.setHeader(EXPOSE, exposed(response.getHeader(EXPOSE), expose))
  return refusal
}

function sendRefusal({ status, fields, body }: Refusal, request: NodeRequest, response: NodeResponse): void {
  const end = response.end.bind(response) as (body?: string) => void
  // Earlier middleware has already sent the status and headers, so this can only end the response.
  if (response.headersSent) {
    end()
    return
  }
  for (let i = 0; i < fields.length; i += 2) response.setHeader(fields[i]!, fields[i + 1]!)
  response.statusCode = status
  end(request.method === 'HEAD' ? undefined : body)
}

/** Tells the guard when the response has been sent or its client has left, whichever comes first. */
export function follow({ ended, measures }: Outcome, response: NodeResponse): void {
  const bytes = measures && response.req?.method !== 'HEAD' ? countBytes(response) : () => 0
  const end = () => {
    forget()
    // A response of HTTP/2 'finishes' when its stream is cancelled, too.
    const aborted = !response.writableFinished || (response.stream?.rstCode ?? 0) !== 0
    const status = aborted && !response.headersSent ? GONE.status : response.statusCode
    ended!(status, bytes(), aborted)
  }
  const forget = whenGone(response, end)
  if (response.writableFinished) end()
  else response.once('finish', end)
}

/** Counts the bytes written to the body from now on. In HTTP/2, `end` calls `write` with its last chunk. */
function countBytes(response: NodeResponse): () => number {
  let bytes = 0
  let isLast = false
  for (const way of ['write', 'end'] as const) {
    const original = response[way] as (...args: unknown[]) => never
    response[way] = (...args: unknown[]) => {
      if (!isLast) bytes += lengthOf(args[0])
      isLast ||= way === 'end'
      return original.apply(response, args)
    }
  }
  return () => bytes
}

const encoder = new TextEncoder()

function lengthOf(chunk: unknown): number {
  if (typeof chunk === 'string') return encoder.encode(chunk).length
  return chunk instanceof Uint8Array ? chunk.byteLength : 0
}
