import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import type { Awaitable } from '../../awaitable.ts'
import type { QueuedResponse, ResponseQueue } from '../../net/response-queue.ts'
import { ENCODINGS, type Encoding, IncomingMessage } from './grpc-message.ts'
import { refuse, trailersOf } from './grpc-refusal.ts'
import { GRPC_STATUS, GrpcError, isTold, toldOf } from './grpc-status.ts'
import { timeoutMs } from './grpc-timeout.ts'
import type { CallLink, OpenCalls } from './open-calls.ts'

/** Takes a message and returns the frame that answers it, or undefined if it goes on to answer through the call. */
export type Method = (message: Buffer, call: GrpcCall) => Awaitable<Buffer> | undefined

/** The parts that all calls of a server share. */
export interface CallContext {
  readonly methods: ReadonlyMap<string, Method>
  readonly maxMessageBytes: number
  readonly open: OpenCalls<GrpcCall>
  readonly queue: ResponseQueue
  /** Called with errors whose text callers do not get. */
  readonly onError: (error: unknown) => void
}

// No date header: it is the most expensive one, and decisions are not cached.
const WITH_TRAILERS = { waitForTrailers: true, sendDate: false }
const HEADERS = { ':status': 200, 'content-type': 'application/grpc' }
const OK_TRAILERS = { 'grpc-status': GRPC_STATUS.OK }

/** The longest timer. A longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31

/** One request on one stream, from its headers to its trailers. */
export class GrpcCall implements CallLink, QueuedResponse {
  /** Used only by `OpenCalls`. */
  before: CallLink = this
  after: CallLink = this
  private readonly stream: ServerHttp2Stream
  private readonly context: CallContext
  private readonly method: Method
  private readonly message: IncomingMessage
  private readonly startedAt = performance.now()
  private readonly timeoutMs: number
  private trailers: Readonly<Record<string, string | number>> = OK_TRAILERS
  private isComplete = false
  private isAnswered = false
  private frame: Buffer | undefined
  private timer: NodeJS.Timeout | undefined

  /** Throws if the headers already show that the call cannot be answered. */
  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, context: CallContext) {
    this.stream = stream
    this.context = context
    this.method = methodOf(headers, context.methods)
    this.timeoutMs = timeoutMs(headers['grpc-timeout'] as string | undefined)
    this.message = new IncomingMessage(encodingOf(headers), context.maxMessageBytes)
    stream.on('data', (chunk: Buffer) => this.take(chunk))
    stream.on('end', () => this.complete())
    stream.on('wantTrailers', () => this.conclude())
  }

  /** Sends one message of a streamed answer. */
  send(frame: Buffer): void {
    if (this.stream.closed) return
    if (!this.stream.headersSent) this.stream.respond(HEADERS, WITH_TRAILERS)
    this.stream.write(frame)
  }

  /** Ends a streamed answer, or sends an answer that has only trailers. */
  fail(error: unknown): void {
    if (!isTold(error)) this.context.onError(error)
    this.context.open.delete(this)
    if (!this.mayAnswer()) return
    if (this.stream.headersSent) {
      this.trailers = trailersOf(toldOf(error))
      this.stream.end()
    } else refuse(this.stream, toldOf(error), this.isComplete)
  }

  /** Sends the answer if the caller is still there. */
  leave(): void {
    if (this.stream.closed) return
    this.stream.respond(HEADERS, WITH_TRAILERS)
    this.stream.end(this.frame)
  }

  whenGone(callback: () => void): void {
    this.stream.once('close', callback)
  }

  /** Gives up a call that has taken longer than `mostMs`: on the answer, or on a caller that does not take it. */
  expire(now: number, mostMs: number): void {
    if (this.stream.closed) this.context.open.delete(this)
    if (now - this.startedAt < mostMs) return
    if (this.isAnswered) this.stream.close(constants.NGHTTP2_CANCEL)
    else this.fail(late())
  }

  private take(chunk: Buffer): void {
    try {
      this.message.take(chunk)
    } catch (error) {
      this.fail(error)
    }
  }

  private complete(): void {
    // This event also comes for a request that was aborted, or refused before its end.
    if (this.stream.closed) return
    this.isComplete = true
    const leftMs = this.timeoutMs - (performance.now() - this.startedAt)
    try {
      if (leftMs <= 0) throw late()
      const answer = this.method(this.message.read(), this)
      if (answer instanceof Promise || answer === undefined) this.wait(answer, leftMs)
      else this.reply(answer)
    } catch (error) {
      this.fail(error)
    }
  }

  private wait(answer: Promise<Buffer> | undefined, leftMs: number): void {
    if (leftMs < LONGEST_TIMER_MS) this.timer = setTimeout(() => this.fail(late()), leftMs)
    if (answer !== undefined) {
      const reply = (frame: Buffer) => this.reply(frame)
      answer.then(reply).catch(error => this.fail(error))
      return
    }
    this.context.open.delete(this)
    this.whenGone(() => clearTimeout(this.timer))
  }

  private reply(frame: Buffer): void {
    if (!this.mayAnswer()) return
    this.frame = frame
    this.context.queue.put(this)
  }

  /** Takes effect once: the answer may come after the deadline, and either may come after the caller has gone. */
  private mayAnswer(): boolean {
    clearTimeout(this.timer)
    const isFirst = !this.isAnswered && !this.stream.closed
    this.isAnswered = true
    return isFirst
  }

  /** Called when the whole answer has been sent. */
  private conclude(): void {
    this.stream.sendTrailers(this.trailers)
    this.context.open.delete(this)
  }
}

function late(): GrpcError {
  return new GrpcError('DEADLINE_EXCEEDED', 'the time for this request is over')
}

function methodOf(headers: IncomingHttpHeaders, methods: ReadonlyMap<string, Method>): Method {
  const method = methods.get(String(headers[':path']))
  if (method === undefined) throw new GrpcError('UNIMPLEMENTED', 'there is no method of this name')
  return method
}

function encodingOf(headers: IncomingHttpHeaders): Encoding {
  const asked = headers['grpc-encoding'] ?? 'identity'
  const encoding = ENCODINGS.find(known => known === asked)
  if (encoding === undefined)
    throw new GrpcError('UNIMPLEMENTED', `expected ${ENCODINGS.join(' or ')} as grpc-encoding`)
  return encoding
}
