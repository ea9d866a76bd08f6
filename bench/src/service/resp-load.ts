import { connect, type Socket } from 'node:net'

export interface RespLoadOptions {
  readonly port: number
  readonly connections: number
  /** The number of commands in a pipeline. The next pipeline waits for the answers. */
  readonly pipeline: number
  /** Whole pipelines, ready to be sent. The first `fill` of them are sent once, the others over and over. */
  readonly frames: readonly Buffer[]
  readonly fill: number
  /** Lines in a reply: 6 for five integers, 1 for one. */
  readonly lines: number
  /** Receives the time of a sample of the pipelines, in milliseconds. */
  readonly latenciesMs: number[]
}

/** Connections to one server, each with one pipeline under way. No library: the other core is the server's. */
export class RespLoad {
  private readonly options: RespLoadOptions
  private readonly clients: readonly Client[]
  private frame = 0

  private constructor(options: RespLoadOptions, clients: readonly Client[]) {
    this.options = options
    this.clients = clients
  }

  static async to(options: RespLoadOptions): Promise<RespLoad> {
    const clients = Array.from({ length: options.connections }, () => Client.connected(options))
    return new RespLoad(options, await Promise.all(clients))
  }

  /** Sends at least so many commands, in whole pipelines, and resolves with the number of those admitted. */
  async send(count: number): Promise<number> {
    const { frames, fill, pipeline } = this.options
    let left = Math.ceil(count / pipeline)
    const next = () => {
      if (left-- <= 0) return undefined
      const frame = frames[this.frame]!
      this.frame = this.frame + 1 === frames.length ? fill : this.frame + 1
      return frame
    }
    const admitted = await Promise.all(this.clients.map(client => client.work(next)))
    return admitted.reduce((sum, one) => sum + one, 0)
  }

  close(): void {
    for (const client of this.clients) client.close()
  }
}

const LF = 0x0a
const COLON = 0x3a
const MINUS = 0x2d
const ZERO = 0x30

/** Only a sample is timed: reading the clock for every pipeline would be a good part of the work. */
const TIMED_EVERY = 17

class Client {
  static connected(options: RespLoadOptions): Promise<Client> {
    return new Promise((resolve, reject) => {
      // Read into one buffer again and again: a cheap client leaves more CPU time to the server.
      const buffer = Buffer.alloc(64 * 1024)
      const socket: Socket = connect({
        ...{ host: '127.0.0.1', port: options.port, noDelay: true },
        onread: { buffer, callback: size => client.read(buffer, size) },
      })
      const client = new Client(options, socket)
      socket.once('connect', () => resolve(client))
      socket.once('error', reject)
    })
  }

  private readonly options: RespLoadOptions
  private readonly socket: Socket
  private next: () => Buffer | undefined = () => undefined
  private finish: (admitted: number) => void = () => {}
  private fail: (error: Error) => void = () => {}
  private admitted = 0
  private replies = 0
  /** The position in a reply: its line, and whether the next byte says if the call was admitted. */
  private line = 0
  private isFlag = false
  private sent = 0
  private sentAt = 0

  private constructor(options: RespLoadOptions, socket: Socket) {
    this.options = options
    this.socket = socket
    socket.on('error', error => this.fail(error))
    socket.on('close', () => this.fail(new Error('the server closed the connection')))
  }

  /** Sends the pipelines that `next` returns until it returns none. */
  work(next: () => Buffer | undefined): Promise<number> {
    this.next = next
    this.admitted = 0
    return new Promise((resolve, reject) => {
      this.finish = resolve
      this.fail = reject
      this.send()
    })
  }

  close(): void {
    this.fail = () => {}
    this.socket.destroy()
  }

  private send(): void {
    const frame = this.next()
    if (frame === undefined) {
      this.finish(this.admitted)
      return
    }
    this.sentAt = this.sent++ % TIMED_EVERY === 0 ? performance.now() : 0
    this.socket.write(frame)
  }

  /** The first of five integers says whether it was admitted; a lone one always is. */
  private read(buffer: Buffer, size: number): boolean {
    const { lines, pipeline, latenciesMs } = this.options
    const flagLine = lines === 1 ? 0 : 1
    for (let i = 0; i < size; i++) {
      const byte = buffer[i]!
      if (this.isFlag) {
        if (lines === 1 || byte === ZERO) this.admitted++
        this.isFlag = false
      }
      if (byte === COLON && this.line === flagLine) this.isFlag = true
      else if (byte === LF && ++this.line === lines) {
        this.line = 0
        this.replies++
      } else if (byte === MINUS && this.line === 0) this.fail(new Error(buffer.toString('latin1', i, size)))
    }
    if (this.replies < pipeline) return true
    this.replies = 0
    if (this.sentAt > 0) latenciesMs.push(performance.now() - this.sentAt)
    this.send()
    return true
  }
}
