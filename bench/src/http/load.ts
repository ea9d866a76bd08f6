import { connect, type Socket } from 'node:net'

const OK = Buffer.from('HTTP/1.1 200')

/** The request to repeat, and the end of every response, by which a whole response is recognized without parsing. */
export interface Exchange {
  readonly request: Buffer
  readonly end: Buffer
}

/** Keep-alive connections to one server, each with one request under way. No library: the other core is the server's. */
export class Load {
  private readonly connections: Connection[]

  private constructor(connections: Connection[]) {
    this.connections = connections
  }

  static async to(port: number, connections: number, exchange: Exchange): Promise<Load> {
    return new Load(await Promise.all(Array.from({ length: connections }, () => Connection.to(port, exchange))))
  }

  /** Sends so many requests and resolves with the number of those answered with 200. */
  async send(count: number): Promise<number> {
    const rest = stayAwake()
    try {
      return await this.sendAll(count)
    } finally {
      rest()
    }
  }

  private async sendAll(count: number): Promise<number> {
    const share = Math.ceil(count / this.connections.length)
    let left = count
    const served = this.connections.map(connection => {
      const own = Math.min(share, left)
      left -= own
      return own === 0 ? 0 : connection.send(own)
    })
    return (await Promise.all(served)).reduce((sum, one) => sum + one, 0)
  }

  /** The latencies since the last time, in milliseconds. */
  takeLatencies(): number[] {
    return this.connections.flatMap(({ latenciesMs }) => latenciesMs.splice(0))
  }

  close(): void {
    for (const connection of this.connections) connection.close()
  }
}

/**
 * Keeps this process awake until the returned function is called. Waking it would cost the server as much as half a
 * request: a server a little slower than its load would pay that for every response, and one a little faster for none.
 */
function stayAwake(): () => void {
  let isAwake = true
  const again = () => {
    if (isAwake) setImmediate(again)
  }
  again()
  return () => {
    isAwake = false
  }
}

class Connection {
  /** How long responses took since the reader last emptied it. */
  readonly latenciesMs: number[] = []
  private readonly socket: Socket
  private readonly exchange: Exchange
  private ended: Error | undefined
  private askedAt = 0
  private left = 0
  private served = 0
  private finish: (served: number) => void = () => {}
  private fail: (error: Error) => void = () => {}

  private constructor(socket: Socket, exchange: Exchange) {
    this.socket = socket
    this.exchange = exchange
    socket.setNoDelay(true)
    socket.on('data', chunk => this.receive(chunk))
    socket.on('error', error => this.end(error))
    socket.on('close', () => this.end(new Error('the server closed the connection')))
  }

  static to(port: number, exchange: Exchange): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(new Connection(socket, exchange)))
      socket.once('error', reject)
    })
  }

  send(count: number): Promise<number> {
    if (this.ended !== undefined) return Promise.reject(this.ended)
    return new Promise((resolve, reject) => {
      this.left = count
      this.served = 0
      this.finish = resolve
      this.fail = reject
      this.ask()
    })
  }

  close(): void {
    this.fail = () => {}
    this.socket.destroy()
  }

  private end(error: Error): void {
    this.ended ??= error
    this.fail(error)
  }

  private ask(): void {
    this.askedAt = performance.now()
    this.socket.write(this.exchange.request)
  }

  /** A response of some hundred bytes comes in one piece or in two: headers, then body. */
  private receive(chunk: Buffer): void {
    const { end } = this.exchange
    if (chunk.subarray(0, OK.length).equals(OK)) this.served++
    if (!chunk.subarray(chunk.length - end.length).equals(end)) return
    this.latenciesMs.push(performance.now() - this.askedAt)
    if (--this.left > 0) this.ask()
    else this.finish(this.served)
  }
}
