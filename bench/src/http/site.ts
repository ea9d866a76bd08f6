import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { nextMessage } from '../child.ts'
import type { Contestant, Gauge } from '../entrant.ts'
import { quantilesUs } from '../statistics.ts'
import { BODY } from './limits.ts'
import { type Exchange, Load } from './load.ts'
import type { ServerName } from './servers.ts'

const CONNECTIONS = 64
/** Each contestant has several servers, which take turns: processes with the same code differ. */
const PROCESSES = 3
/** Enough for the engine to have compiled what it will. */
const WARM_UP_REQUESTS = 20_000
/**
 * In about one process of four `process.nextTick` comes to take 500 to 900 ns in place of 200, for good, whatever is served:
 * a request costs a third more there. That is chance, and Node's own matter, so such a server is replaced.
 */
const SLOW_TICK_NS = 400
const MOST_TRIES = 8

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
    const port = await nextMessage<number>(child)
    return new Server(child, await Load.to(port, CONNECTIONS, HELLO))
  }

  send(count: number): Promise<number> {
    return this.load.send(count)
  }

  takeLatencies(): number[] {
    return this.load.takeLatencies()
  }

  /** All CPU time its process has used so far, in microseconds. */
  cpuUs(): Promise<number> {
    return this.ask('cpu')
  }

  /** Has its process come to be one of the slow ones? The quickest of a few, since something may come in between. */
  async isSlow(): Promise<boolean> {
    const ticks = [await this.ask('tick'), await this.ask('tick'), await this.ask('tick')]
    return Math.min(...ticks) > SLOW_TICK_NS
  }

  private async ask(question: string): Promise<number> {
    const answer = nextMessage<number>(this.child)
    this.child.send(question)
    return answer
  }

  stop(): void {
    this.load.close()
    this.child.kill()
  }
}

/** The servers of a case, and what their processors did. */
export class Site implements Gauge {
  private readonly servers: Server[] = []
  private usedUs = 0
  private latenciesMs: number[] = []

  contestant(label: string, name: ServerName): Contestant {
    const servers: Server[] = []
    let turn = 0
    const run = async (count: number) => {
      const server = servers[turn++ % servers.length]!
      const before = await server.cpuUs()
      const served = await server.send(count)
      this.usedUs = (await server.cpuUs()) - before
      this.latenciesMs = server.takeLatencies()
      return served
    }
    const prepare = async () => {
      while (servers.length < PROCESSES) servers.push(await this.warmServer(name))
    }
    return { name: label, ways: { requests: run }, prepare }
  }

  /** One that is not slow, if there is one to be had. */
  private async warmServer(name: ServerName, triesLeft = MOST_TRIES): Promise<Server> {
    const server = await Server.start(name)
    await server.send(WARM_UP_REQUESTS)
    if (triesLeft > 1 && (await server.isSlow())) {
      server.stop()
      return this.warmServer(name, triesLeft - 1)
    }
    this.servers.push(server)
    return server
  }

  async start(): Promise<void> {}

  async stop(requests: number) {
    return { serverUs: this.usedUs / requests, ...quantilesUs(this.latenciesMs) }
  }

  close(): void {
    for (const server of this.servers) server.stop()
  }
}
