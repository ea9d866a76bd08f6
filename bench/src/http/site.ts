import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { nextMessage } from '../child.ts'
import type { Contestant, Gauge } from '../entrant.ts'
import { quantilesUs } from '../statistics.ts'
import { BODY } from './limits.ts'
import { type Exchange, Load } from './load.ts'
import type { ServerName } from './servers.ts'

const CONNECTIONS = 64
/** For each server, in turns: enough for the engine to compile everything, after it has seen all servers. */
const WARM_UP_REQUESTS = 16_000
const WARM_UP_TURNS = 4
/**
 * In about one process of four, `process.nextTick` takes 500 to 900 ns instead of 200 from some point on, whatever is
 * served, and a request costs a third more. This is chance and due to Node, so such a process is replaced.
 */
const SLOW_TICK_NS = 400
const MOST_TRIES = 6

const HELLO: Exchange = {
  request: Buffer.from('GET /hello HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n'),
  end: Buffer.from(BODY),
}

/**
 * All servers of a case in one process, one of them under load at a time. The engine compiles Node and the framework
 * differently in each process, which matters more than any limiter. In one process it is the same for all.
 */
export class Site implements Gauge {
  private readonly child: ChildProcess
  private readonly loads: readonly Load[]
  private usedUs = 0
  private latenciesMs: number[] = []

  private constructor(child: ChildProcess, loads: readonly Load[]) {
    this.child = child
    this.loads = loads
  }

  /** Opens a warm site. Tries several processes until one is not slow. */
  static async open(names: readonly ServerName[], triesLeft = MOST_TRIES): Promise<Site> {
    const child = fork(fileURLToPath(new URL('./server.js', import.meta.url)), [...names])
    const ports = await nextMessage<number[]>(child)
    const site = new Site(child, await Promise.all(ports.map(port => Load.to(port, CONNECTIONS, HELLO))))
    await site.warmUp()
    if (triesLeft === 1 || !(await site.isSlow())) return site
    site.close()
    return Site.open(names, triesLeft - 1)
  }

  /** The contestant that loads the server with this index. */
  contestant(label: string, index: number): Contestant {
    const load = this.loads[index]!
    const requests = async (count: number) => {
      const before = await this.ask('cpu')
      const served = await load.send(count)
      this.usedUs = (await this.ask('cpu')) - before
      this.latenciesMs = load.takeLatencies()
      return served
    }
    return { name: label, ways: { requests } }
  }

  async start(): Promise<void> {}

  async stop(requests: number) {
    return { serverUs: this.usedUs / requests, ...quantilesUs(this.latenciesMs) }
  }

  close(): void {
    for (const load of this.loads) load.close()
    this.child.kill()
  }

  private async warmUp(): Promise<void> {
    for (let turn = 0; turn < WARM_UP_TURNS; turn++) {
      for (const load of this.loads) await load.send(WARM_UP_REQUESTS / WARM_UP_TURNS)
    }
    for (const load of this.loads) load.takeLatencies()
  }

  /** The quickest of a few, since other work may slow some of them. */
  private async isSlow(): Promise<boolean> {
    const ticks = [await this.ask('tick'), await this.ask('tick'), await this.ask('tick')]
    return Math.min(...ticks) > SLOW_TICK_NS
  }

  private async ask(question: string): Promise<number> {
    const answer = nextMessage<number>(this.child)
    this.child.send(question)
    return answer
  }
}
