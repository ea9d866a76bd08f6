// The load generator, a process of its own: asks one server after the other, each over its own connections.
import { connect, type Socket } from 'node:net'
import { endWithParent } from '../child.ts'
import type { LoadAnswer, LoadOrder } from './resp-orders.ts'

endWithParent()
const squads = new Map<string, Squad>()

process.on('message', async (order: LoadOrder) => {
  const name = `${order.port} ${order.kind} ${order.pipeline}`
  let squad = squads.get(name)
  if (squad === undefined) {
    squad = new Squad(order)
    squads.set(name, squad)
  }
  process.send!(await squad.run(order.count))
})

/** The clients of one contestant. Each sends its next pipeline as soon as it has all replies to the one before. */
class Squad {
  private readonly frames: readonly Buffer[]
  private readonly order: LoadOrder
  private clients: Promise<Client[]> | undefined
  private frame = 0

  constructor(order: LoadOrder) {
    this.order = order
    this.frames = order.frames.map(frame => Buffer.from(frame, 'latin1'))
  }

  async run(count: number): Promise<LoadAnswer> {
    const { connections, pipeline, port, lines } = this.order
    this.clients ??= Promise.all(Array.from({ length: connections }, () => Client.connected(port, lines, pipeline)))
    const clients = await this.clients
    const latenciesMs: number[] = []
    let left = Math.max(clients.length, Math.ceil(count / pipeline))
    const asked = left * pipeline
    const next = () => {
      if (left === 0) return undefined
      left--
      this.frame = (this.frame + 1) % this.frames.length
      return this.frames[this.frame]
    }
    const startedAt = performance.now()
    const admitted = await Promise.all(clients.map(client => client.work(next, latenciesMs)))
    const elapsedMs = performance.now() - startedAt
    const sorted = latenciesMs.toSorted((a, b) => a - b)
    const quantileUs = (share: number) => 1000 * sorted[Math.ceil(sorted.length * share) - 1]!
    return {
      asked,
      elapsedMs,
      admitted: admitted.reduce((sum, one) => sum + one, 0),
      p50Us: quantileUs(0.5),
      p99Us: quantileUs(0.99),
    }
  }
}

const LF = 0x0a
const COLON = 0x3a
const ZERO = 0x30
const MINUS = 0x2d
/** Reading the clock for every reply would be a good part of the work. */
const TIMED_EVERY = 17

class Client {
  static connected(port: number, lines: number, pipeline: number): Promise<Client> {
    return new Promise((resolve, reject) => {
      const client = new Client(lines, pipeline)
      const buffer = Buffer.alloc(64 * 1024)
      // Into one buffer, over and over: a client that costs little leaves more to what is measured.
      const socket = connect({
        ...{ host: '127.0.0.1', port, noDelay: true },
        onread: { buffer, callback: size => client.read(buffer, size) },
      })
      client.socket = socket
      socket.once('connect', () => resolve(client))
      socket.on('error', reject)
    })
  }

  private socket!: Socket
  private readonly lines: number
  private readonly pipeline: number
  private next: () => Buffer | undefined = () => undefined
  private done: (admitted: number) => void = () => {}
  private latenciesMs: number[] = []
  private admitted = 0
  private line = 0
  private isFlag = false
  private replies = 0
  private sent = 0
  private sentAt = 0

  constructor(lines: number, pipeline: number) {
    this.lines = lines
    this.pipeline = pipeline
  }

  work(next: () => Buffer | undefined, latenciesMs: number[]): Promise<number> {
    this.next = next
    this.latenciesMs = latenciesMs
    this.admitted = 0
    return new Promise(resolve => {
      this.done = resolve
      this.send()
    })
  }

  private send(): void {
    const frame = this.next()
    if (frame === undefined) {
      this.done(this.admitted)
      return
    }
    this.sentAt = this.sent++ % TIMED_EVERY === 0 ? performance.now() : 0
    this.socket.write(frame)
  }

  /** A reply is so many lines; the first integer of the five says whether it was admitted, a lone one always is. */
  private read(buffer: Buffer, size: number): boolean {
    for (let i = 0; i < size; i++) {
      const byte = buffer[i]!
      if (this.isFlag) {
        if (byte === ZERO || this.lines === 1) this.admitted++
        this.isFlag = false
      }
      if (byte === COLON && this.line === (this.lines === 1 ? 0 : 1)) this.isFlag = true
      else if (byte === LF && ++this.line === this.lines) {
        this.line = 0
        this.replies++
      } else if (byte === MINUS && this.line === 0) throw new Error(buffer.toString('latin1', i, size))
    }
    if (this.replies < this.pipeline) return true
    this.replies = 0
    if (this.sentAt > 0) this.latenciesMs.push(performance.now() - this.sentAt)
    this.send()
    return true
  }
}
