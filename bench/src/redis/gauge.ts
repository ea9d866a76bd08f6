import type { Gauge } from '../entrant.ts'
import type { Slice } from './crew.ts'
import type { Server } from './site.ts'

/** The CPU time that a decision takes at the client and on the servers, and how long callers waited for it; in microseconds. */
export class RedisGauge implements Gauge {
  private readonly servers: readonly Server[]
  private serverUs = 0
  private slice: Slice | undefined

  constructor(servers: readonly Server[]) {
    this.servers = servers
  }

  /** Takes the figures of the process that made the decisions. */
  hear(slice: Slice): void {
    this.slice = slice
  }

  async start(): Promise<void> {
    this.serverUs = await serverCpuUs(this.servers)
  }

  async stop(decisions: number) {
    const serverUs = ((await serverCpuUs(this.servers)) - this.serverUs) / decisions
    const { clientUs, p50Us, p99Us } = this.slice!
    return { clientUs, serverUs, p50Us, p99Us }
  }
}

async function serverCpuUs(servers: readonly Server[]): Promise<number> {
  const infos = await Promise.all(servers.map(server => server.command('INFO', 'cpu')))
  let seconds = 0
  for (const info of infos) {
    for (const [, used] of String(info).matchAll(/^used_cpu_(?:user|sys):([\d.]+)/gm)) seconds += Number(used)
  }
  return seconds * 1e6
}
