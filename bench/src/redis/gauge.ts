import type { RedisServer } from 'sluice-harness'
import type { Gauge } from '../entrant.ts'

/** The CPU time that a decision takes here and on the servers, and how long callers waited for it; all in microseconds. */
export class RedisGauge implements Gauge {
  /** Of the slice: how long a decision took its caller. Not all are timed, so that timing them takes no time of note. */
  readonly latenciesMs: number[] = []
  private readonly servers: readonly RedisServer[]
  private serverUs = 0
  private client = process.cpuUsage()

  constructor(servers: readonly RedisServer[]) {
    this.servers = servers
  }

  async start(): Promise<void> {
    this.latenciesMs.length = 0
    this.serverUs = await serverCpuUs(this.servers)
    this.client = process.cpuUsage()
  }

  async stop(decisions: number) {
    const { user, system } = process.cpuUsage(this.client)
    const serverUs = (await serverCpuUs(this.servers)) - this.serverUs
    const sorted = this.latenciesMs.toSorted((a, b) => a - b)
    const quantileUs = (share: number) => 1000 * sorted[Math.ceil(sorted.length * share) - 1]!
    return {
      clientUs: (user + system) / decisions,
      serverUs: serverUs / decisions,
      p50Us: quantileUs(0.5),
      p99Us: quantileUs(0.99),
    }
  }
}

async function serverCpuUs(servers: readonly RedisServer[]): Promise<number> {
  const infos = await Promise.all(servers.map(server => server.command('INFO', 'cpu')))
  let seconds = 0
  for (const info of infos) {
    for (const [, used] of String(info).matchAll(/^used_cpu_(?:user|sys):([\d.]+)/gm)) seconds += Number(used)
  }
  return seconds * 1e6
}
