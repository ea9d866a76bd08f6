import { connect, type Socket } from 'node:net'

const REQUEST = Buffer.from('GET /hello HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n')
/** Every server answers with this, so that a response is known to be whole without being parsed. */
export const BODY = 'a short answer, and then its end.'
const END = Buffer.from(BODY)
const OK = Buffer.from('HTTP/1.1 200')

/** Keep-alive connections to one server, each with one request under way. No library: the other core is the server's. */
export class Load {
  private readonly connections: Connection[]

  private constructor(connections: Connection[]) {
    this.connections = connections
  }

  static async to(port: number, connections: number): Promise<Load> {
    return new Load(await Promise.all(Array.from({ length: connections }, () => Connection.to(port))))
  }

  /** Sends so many requests and resolves with the number of those answered with 200. */
  async send(count: number): Promise<number> {
    const share = Math.ceil(count / this.connections.length)
    let left = count
    const served = this.connections.map(connection => {
      const own = Math.min(share, left)
      left -= own
      return own === 0 ? 0 : connection.send(own)
    })
    return (await Promise.all(served)).reduce((sum, one) => sum + one, 0)
  }

  close(): void {
    for (const connection of this.connections) connection.close()
  }
}

class Connection {
  private readonly socket: Socket
  private left = 0
  private served = 0
  private finish: (served: number) => void = () => {}
  private fail: (error: Error) => void = () => {}

  private constructor(socket: Socket) {
    this.socket = socket
    socket.setNoDelay(true)
    socket.on('data', chunk => this.receive(chunk))
    socket.on('error', error => this.fail(error))
    socket.on('close', () => this.fail(new Error('the server closed the connection')))
  }

  static to(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(new Connection(socket)))
      socket.once('error', reject)
    })
  }

  send(count: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.left = count
      this.served = 0
      this.finish = resolve
      this.fail = reject
      this.socket.write(REQUEST)
    })
  }

  close(): void {
    this.fail = () => {}
    this.socket.destroy()
  }

  /** A response of some hundred bytes comes in one piece or in two: headers, then body. */
  private receive(chunk: Buffer): void {
    if (chunk.subarray(0, OK.length).equals(OK)) this.served++
    if (!chunk.subarray(chunk.length - END.length).equals(END)) return
    if (--this.left > 0) this.socket.write(REQUEST)
    else this.finish(this.served)
  }
}
