import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Contestant, Gauge } from '../entrant.ts'
import { quantilesUs } from '../statistics.ts'
import { BODY } from './limits.ts'
import { type Exchange, Load } from './load.ts'
import type { ServerName } from './servers.ts'

const CONNECTIONS = 64
const HELLO: Exchange = {
  request: Buffer.from('GET /hello HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n'),
  end: Buffer.from(BODY),
}

/** One server in a process of its own. */
class Server {
  private readonly child: ChildProcess
  private readonly load: Load

  private constructor(child: ChildProcess, load: Load) {
    this.child = child
    this.load = load
  }

  static async start(name: ServerName): Promise<Server> {
    const child = fork(fileURLToPath(new URL('./server.js', import.meta.url)), [name])
    const port = (await nextMessage(child)) as number
    return new Server(child, await Load.to(port, CONNECTIONS, HELLO))
  }

  send(count: number): Promise<number> {
    return this.load.send(count)
  }

  takeLatencies(): number[] {
    return this.load.takeLatencies()
  }

  /** All CPU time its process has used so far, in microseconds. */
  async cpuUs(): Promise<number> {
    const answer = nextMessage(this.child)
    this.child.send('cpu')
    return (await answer) as number
  }

  stop(): void {
    this.load.close()
    this.child.kill()
  }
}

function nextMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`a server ended with code ${code}`))
    child.once('exit', ended)
    child.once('message', message => {
      child.off('exit', ended)
      resolve(message)
    })
  })
}

/** The servers of a case, and what their processors did. */
export class Site implements Gauge {
  private readonly servers: Server[] = []
  private usedUs = 0
  private latenciesMs: number[] = []

  async contestant(label: string, name: ServerName): Promise<Contestant> {
    const server = await Server.start(name)
    this.servers.push(server)
    const run = async (count: number) => {
      const before = await server.cpuUs()
      const served = await server.send(count)
      this.usedUs = (await server.cpuUs()) - before
      this.latenciesMs = server.takeLatencies()
      return served
    }
    return { name: label, ways: { requests: run } }
  }

  async start(): Promise<void> {}

  async stop(requests: number) {
    return { serverUs: this.usedUs / requests, ...quantilesUs(this.latenciesMs) }
  }

  close(): void {
    for (const server of this.servers) server.stop()
  }
}
