import { fork } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Contestant, Gauge } from '../entrant.ts'
import { quantilesUs } from '../statistics.ts'
import { cpuUs } from './cpu.ts'
import { body } from './grpc-frames.ts'
import { GrpcLoad } from './grpc-load.ts'
import { type Service, startService } from './service.ts'

const KEYS = 10_000
const CONNECTIONS = 4
const IN_FLIGHT = 50

export const LOAD = `${CONNECTIONS} connections × ${IN_FLIGHT}, ${KEYS.toLocaleString('en-US')} keys`

/** Every key is always admitted, and its state read and written with every call. */
const RULES = `domain: edge
descriptors:
  - { key: user, rate_limit: { unit: hour, requests_per_unit: 4000000000 } }
`

/** The service needs rules of its own too; nothing here uses them. */
const OTHER_RULES = 'limits: { per-ip: { key: ip, gcra: { rate: 1000/s, burst: 1000 } } }\n'

/** The servers of a case, each in its own process, and one load generator for all of them: this process. */
export class GrpcSite implements Gauge {
  private readonly bodies = Array.from({ length: KEYS }, (_, i) => body('edge', 'user', `user-${i}`))
  private readonly closers: (() => unknown)[] = []
  private usedUs = 0
  private latenciesMs: number[] = []

  /** The whole service, with the limit of the rules above for each user. */
  async service(flags: readonly string[] = []): Promise<Service> {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
    this.closers.push(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'envoy.yaml')
    writeFileSync(file, RULES)
    const service = await startService(OTHER_RULES, ['--envoy', file, ...flags])
    this.closers.push(() => service.stop())
    return service
  }

  async ours(): Promise<Contestant> {
    const { grpc, pid } = await this.service()
    return this.contestant('sluice, the whole service', grpc, pid)
  }

  /** Starts a module that reports its port, in a process of its own. */
  async child(name: string, module: string, args: readonly string[] = []): Promise<Contestant> {
    const child = fork(fileURLToPath(new URL(module, import.meta.url)), [...args])
    this.closers.push(() => child.kill())
    const port = await new Promise<number>((resolve, reject) => {
      child.once('message', message => resolve(message as number))
      child.once('exit', code => reject(new Error(`${module} ended with code ${code}`)))
    })
    return this.contestant(name, port, child.pid!)
  }

  private async contestant(name: string, port: number, pid: number): Promise<Contestant> {
    const load = await this.load(port)
    const run = async (count: number) => {
      const before = cpuUs(pid)
      const admitted = await load.send(count)
      this.usedUs = cpuUs(pid) - before
      this.latenciesMs = load.takeLatencies()
      return admitted
    }
    return { name, ways: { calls: run } }
  }

  async load(port: number): Promise<GrpcLoad> {
    const { bodies } = this
    const load = await GrpcLoad.to({ port, connections: CONNECTIONS, inFlight: IN_FLIGHT, bodies })
    this.closers.push(() => load.close())
    return load
  }

  async start(): Promise<void> {}

  async stop(calls: number) {
    return { serverUs: this.usedUs / calls, ...quantilesUs(this.latenciesMs) }
  }

  close(): void {
    for (const close of this.closers.reverse()) close()
  }
}
