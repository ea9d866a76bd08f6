import { isAscii, isUtf8 } from 'node:buffer'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { QueuedResponse, ResponseQueue } from '../net/response-queue.ts'
import { type HttpAnswer, JSON_TYPE } from './http-answer.ts'
import type { PlainHead, PlainHeads } from './plain-head.ts'

/** What a plain connection needs from its server. */
export interface PlainConnectionHost {
  readonly heads: PlainHeads
  /** All connections that this class reads itself. */
  readonly open: Set<PlainConnection>
  readonly isDraining: boolean
  readonly keepAliveMs: number
  /** The header lines of a response that announce `keepAliveMs`. */
  readonly keepAlive: string
  /** How long a new connection may send nothing. */
  readonly firstWordMs: number
  /** Answers the request through `connection.answer`, now or later. */
  serve(head: PlainHead, body: string, connection: PlainConnection): void
  /** Hands the connection to Node's HTTP server for good. */
  takeTheLongWay(socket: Socket): void
}

const CLOSE = 'Connection: close\r\n'
const SILENT = `HTTP/1.1 408 Request Timeout\r\n${CLOSE}\r\n`

/**
 * A fast path for a connection whose requests arrive one after the other, each whole in one chunk, with a plain head and a
 * body of the announced length. Most requests to a service are like that, and this skips the rest of HTTP for them. The
 * first request of another form hands the connection to Node's HTTP server.
 */
export class PlainConnection implements QueuedResponse {
  private readonly socket: Socket
  private readonly host: PlainConnectionHost
  private hasAsked = false
  private isBusy = false
  /** The client has ended its side of the connection. */
  private isEnding = false
  private ready: HttpAnswer | undefined
  /** Bytes that arrived while the request before them was being answered. */
  private held: Buffer | undefined
  private readonly take = (chunk: Buffer) => this.read(chunk)
  private readonly timeOut = () => this.giveUp()
  private readonly fail = () => this.socket.destroy()
  private readonly forget = () => this.host.open.delete(this)
  private readonly end = () => {
    this.isEnding = true
    this.closeIfIdle()
  }

  constructor(socket: Socket, host: PlainConnectionHost) {
    this.socket = socket
    this.host = host
    host.open.add(this)
    socket.setTimeout(host.firstWordMs)
    socket.on('data', this.take)
    socket.on('timeout', this.timeOut)
    socket.on('error', this.fail)
    socket.on('close', this.forget)
    socket.on('end', this.end)
  }

  get peer(): string | undefined {
    return this.socket.remoteAddress
  }

  /** Queues an answer, which is sent with the others of this turn of the event loop. */
  answer(answer: HttpAnswer, queue: ResponseQueue): void {
    this.ready = answer
    queue.put(this)
  }

  /** Writes the answer at once, and closes the connection after it if the server drains or the client has ended its side. */
  leave(): void {
    const { socket, host, held } = this
    const isLast = this.isEnding || (host.isDraining && held === undefined)
    this.isBusy = false
    socket.write(textOf(this.ready!, isLast ? CLOSE : host.keepAlive))
    if (isLast) socket.destroySoon()
    else if (held !== undefined) {
      this.held = undefined
      socket.resume()
      this.handOver(held)
    }
  }

  destroy(): void {
    this.socket.destroy()
  }

  /** Closes the connection unless a request is being answered. */
  closeIfIdle(): void {
    if (!this.isBusy) this.socket.destroySoon()
  }

  private read(chunk: Buffer): void {
    if (this.isBusy) {
      this.held = this.held === undefined ? chunk : Buffer.concat([this.held, chunk])
      this.socket.pause()
      return
    }
    const { heads } = this.host
    const text = chunk.toString('latin1')
    const start = heads.endIn(text)
    const head = start === -1 ? undefined : heads.read(text.slice(0, start))
    // A client that does not read its responses goes to Node as well, whose timeouts then apply.
    if (head === undefined || chunk.length !== start + head.length || this.socket.writableLength > 0) {
      this.handOver(chunk)
      return
    }
    const body = isAscii(chunk) ? text.slice(start) : utf8Of(chunk.subarray(start))
    if (body === undefined) {
      this.handOver(chunk)
      return
    }
    if (!this.hasAsked) {
      this.hasAsked = true
      this.socket.setTimeout(this.host.keepAliveMs)
    }
    this.isBusy = true
    this.host.serve(head, body, this)
  }

  private handOver(chunk: Buffer): void {
    const { socket, host } = this
    socket.off('data', this.take)
    socket.off('timeout', this.timeOut)
    socket.off('error', this.fail)
    socket.off('close', this.forget)
    socket.off('end', this.end)
    this.forget()
    socket.setTimeout(0)
    host.takeTheLongWay(socket)
    socket.unshift(chunk)
  }

  private giveUp(): void {
    if (this.isBusy) return
    if (!this.hasAsked) this.socket.write(SILENT)
    this.socket.destroy()
  }
}

function utf8Of(bytes: Buffer): string | undefined {
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined
}

/** The same bytes that Node would write. */
function textOf({ status, body, type = JSON_TYPE, fields }: HttpAnswer, connection: string): string {
  const length = Buffer.byteLength(body)
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n`
  for (const name in fields) head += `${name}: ${fields[name]}\r\n`
  return `${head}Date: ${dateOf(Date.now())}\r\n${connection}\r\n${body}`
}

let dateText = ''
let dateUntil = 0

/** The Date field, renewed each second. */
function dateOf(now: number): string {
  if (now >= dateUntil || now < dateUntil - 1000) {
    dateText = new Date(now).toUTCString()
    dateUntil = now - (now % 1000) + 1000
  }
  return dateText
}
