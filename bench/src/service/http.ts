import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { BenchCase } from '../bench-case.ts'
import type { Contestant, Gauge } from '../entrant.ts'
import { measure, ranked, type Settings } from '../harness.ts'
import { Load } from '../http/load.ts'
import { print } from '../report.ts'
import { quantilesUs } from '../statistics.ts'
import { cpuUs } from './cpu.ts'
import { CHECK } from './http-exchange.ts'
import { startService } from './service.ts'

const CONNECTIONS = 64
const RULES = 'limits:\n  per-ip: { key: ip, token-bucket: { capacity: 1000000000, refill: 1000/s } }\n'

/** `POST /v1/check` compared with a server that reads the same request and answers a constant. */
export const httpCases: readonly BenchCase[] = [
  { name: 'HTTP check, one process', run: settings => run('HTTP check, one process', [], settings) },
  { name: 'HTTP check, two workers', run: settings => run('HTTP check, two workers', ['--workers', '2'], settings) },
]

async function run(name: string, flags: readonly string[], settings: Settings): Promise<void> {
  const site = new HttpSite()
  try {
    const ours = [await site.ours(flags), await site.ours(flags)]
    const measured = await measure(
      { sluice: () => ours.pop()!, references: [await site.bare()], fill: 1000, gauge: site },
      settings,
    )
    const rates = ranked(measured, one => one.rates, 'more')
    print({ bench: 'service', case: name, unit: 'checks/s', better: 'more', ...rates })
    const cpu = ranked(measured, one => one.readings.serverUs!, 'less')
    print({ bench: 'service', case: `${name}: server CPU`, unit: 'µs/check', better: 'less', ...cpu })
  } finally {
    site.close()
  }
}

class HttpSite implements Gauge {
  private readonly closers: (() => unknown)[] = []
  private usedUs = 0
  private latenciesMs: number[] = []

  async ours(flags: readonly string[]): Promise<Contestant> {
    const service = await startService(RULES, flags)
    this.closers.push(() => service.stop())
    return this.contestant('sluice, POST /v1/check', service.http, service.pid)
  }

  async bare(): Promise<Contestant> {
    const child = fork(fileURLToPath(new URL('./bare-http.js', import.meta.url)))
    this.closers.push(() => child.kill())
    const port = await new Promise<number>(resolve => child.once('message', message => resolve(message as number)))
    return this.contestant('a bare node:http server', port, child.pid!)
  }

  async start(): Promise<void> {}

  async stop(checks: number) {
    return { serverUs: this.usedUs / checks, ...quantilesUs(this.latenciesMs) }
  }

  close(): void {
    for (const close of this.closers.reverse()) close()
  }

  private async contestant(name: string, port: number, pid: number): Promise<Contestant> {
    const load = await Load.to(port, CONNECTIONS, CHECK)
    this.closers.push(() => load.close())
    const run = async (count: number) => {
      const before = cpuUs(pid)
      const served = await load.send(count)
      this.usedUs = cpuUs(pid) - before
      this.latenciesMs = load.takeLatencies()
      return served
    }
    return { name, ways: { requests: run } }
  }
}
