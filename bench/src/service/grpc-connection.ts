import { connect, type Socket } from 'node:net'
import { http2 as h2 } from 'sluice-harness'
import { FIRST_HEADERS, NEXT_HEADERS } from './grpc-frames.ts'

/** A gRPC message that begins by saying OK: overall_code, the first field, is 1. */
const OK = Buffer.from([0x08, 0x01])
const MESSAGE_PREFIX = 5
const WIDEST_WINDOW = 2 ** 31 - 1 - 65_535

/** The outcome of a call, and its time if it was timed. */
export type Ended = (isAdmitted: boolean, tookMs: number | undefined) => void

/**
 * One connection with many calls under way. It does not read headers: a call counts as admitted if its message says OK,
 * so any other answer lowers the number of admitted calls. Calls that start while it reads are sent in one write.
 */
export class GrpcConnection {
  private readonly socket: Socket
  private readonly admitted = new Set<number>()
  private readonly dueAt = new Map<number, number>()
  private rest: Buffer = Buffer.alloc(0)
  private outgoing: Buffer[] = []
  private isReading = false
  private nextStream = 1
  onEnded: Ended = () => {}
  onFailure: (error: Error) => void = () => {}

  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', chunk => this.read(chunk as Buffer))
    socket.on('error', error => this.onFailure(error))
    socket.on('close', () => this.onFailure(new Error('the server closed the connection')))
    const window = Buffer.alloc(4)
    window.writeUInt32BE(WIDEST_WINDOW)
    socket.write(Buffer.concat([h2.PREFACE, h2.frame(h2.SETTINGS, 0), h2.frame(h2.WINDOW_UPDATE, 0, 0, window)]))
  }

  static to(port: number): Promise<GrpcConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port, noDelay: true }, () => resolve(new GrpcConnection(socket)))
      socket.once('error', reject)
    })
  }

  /** Starts a call; with `dueAt`, times it from then on. */
  ask(body: Buffer, dueAt?: number): void {
    const stream = this.nextStream
    this.nextStream += 2
    if (dueAt !== undefined) this.dueAt.set(stream, dueAt)
    for (const part of [stream === 1 ? FIRST_HEADERS : NEXT_HEADERS, body]) {
      const own = Buffer.from(part)
      own.writeUInt32BE(stream, 5)
      this.outgoing.push(own)
    }
    if (!this.isReading) this.flush()
  }

  close(): void {
    this.onFailure = () => {}
    this.socket.destroy()
  }

  private read(chunk: Buffer): void {
    const bytes = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk])
    let at = 0
    this.isReading = true
    while (bytes.length - at >= h2.FRAME_HEAD) {
      const end = at + h2.FRAME_HEAD + bytes.readUIntBE(at, 3)
      if (end > bytes.length) break
      this.take(bytes[at + 3]!, bytes[at + 4]!, bytes.readUInt32BE(at + 5), bytes.subarray(at + h2.FRAME_HEAD, end))
      at = end
    }
    this.rest = bytes.subarray(at)
    this.isReading = false
    this.flush()
  }

  private take(type: number, flags: number, stream: number, payload: Buffer): void {
    if (type === h2.DATA && OK.compare(payload, MESSAGE_PREFIX, MESSAGE_PREFIX + OK.length) === 0) {
      this.admitted.add(stream)
    }
    if ((type === h2.DATA || type === h2.HEADERS) && (flags & h2.END_STREAM) !== 0) {
      this.end(stream)
    } else if ((type === h2.SETTINGS || type === h2.PING) && (flags & h2.ACK) === 0) {
      this.outgoing.push(h2.frame(type, h2.ACK, 0, type === h2.PING ? payload : undefined))
    } else if (type === h2.RST_STREAM || type === h2.GOAWAY) {
      this.onFailure(new Error(`the server broke off: ${payload.toString('hex')}`))
    }
  }

  private end(stream: number): void {
    const dueAt = this.dueAt.get(stream)
    this.dueAt.delete(stream)
    this.onEnded(this.admitted.delete(stream), dueAt === undefined ? undefined : performance.now() - dueAt)
  }

  private flush(): void {
    if (this.outgoing.length === 0) return
    this.socket.write(Buffer.concat(this.outgoing))
    this.outgoing = []
  }
}
