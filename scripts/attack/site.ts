import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { OutgoingHttpHeaders } from 'node:http'
import { Agent, createServer, type RequestListener, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** How `sluice` is started: the built command, or, in tests, its sources. */
export interface Command {
  readonly words: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

export interface Service {
  readonly http: number
  readonly grpc: number
  readonly resp: number
  /** Resident memory of its process, in MB. */
  residentMb(): number
  /** Whether it still runs. */
  isUp(): boolean
}

export interface Answer {
  readonly status: number
  readonly body: string
}

const LOOPBACK = '127.0.0.1'
const DOORS = /http:\/\/\S+:(\d+) .*grpc:\/\/\S+:(\d+) .*redis:\/\/\S+:(\d+) /
const LONGEST_START_MS = 30_000
const CONNECTIONS = new Agent({ keepAlive: true })

/** The processes and servers that an attack starts. All of them end with it. */
export class Site {
  private readonly command: Command
  private readonly ends: (() => unknown)[] = []

  constructor(command: Command) {
    this.command = command
  }

  atEnd(end: () => unknown): void {
    this.ends.push(end)
  }

  async close(): Promise<void> {
    for (const end of this.ends.reverse()) await end()
  }

  folder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-attack-'))
    this.atEnd(() => rmSync(folder, { recursive: true, force: true }))
    return folder
  }

  /** Starts a server as a user would write it, and resolves to its port. */
  listening(listener: RequestListener): Promise<number> {
    const server = createServer(listener)
    this.atEnd(() => {
      server.closeAllConnections()
      server.close()
    })
    return new Promise(resolve => {
      server.listen(0, LOOPBACK, () => resolve((server.address() as AddressInfo).port))
    })
  }

  /** Runs `sluice` with these arguments. Passes its output on as it arrives. */
  sluice(words: readonly string[], heard: (text: string) => void, heapMb?: number): ChildProcess {
    const [program, ...rest] = [...this.command.words, ...words]
    const child = spawn(program!, rest, {
      env: {
        ...process.env,
        ...this.command.env,
        ...(heapMb !== undefined && { NODE_OPTIONS: `--max-old-space-size=${heapMb}` }),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [child.stdout, child.stderr]) stream!.setEncoding('utf8').on('data', heard)
    const ended = new Promise(resolve => child.once('close', resolve))
    this.atEnd(() => {
      child.kill('SIGKILL')
      return ended
    })
    return child
  }

  /** Starts the service with these rules on free ports of loopback. Resolves when its doors are open. */
  async service(rules: string, flags: readonly string[] = [], heapMb?: number): Promise<Service> {
    const file = join(this.folder(), 'rules.yaml')
    writeFileSync(file, rules)
    const ports = ['--http-port', '0', '--grpc-port', '0', '--resp-port', '0']
    let output = ''
    const child = await new Promise<ChildProcess>((resolve, reject) => {
      const words = ['serve', file, ...ports, ...flags]
      const heard = (text: string) => {
        output += text
        if (DOORS.test(output)) resolve(started)
      }
      const started = this.sluice(words, heard, heapMb)
      const failed = () => reject(new Error(`the service did not start:\n${output}`))
      started.once('close', failed)
      setTimeout(failed, LONGEST_START_MS).unref()
    })
    const [http, grpc, resp] = DOORS.exec(output)!.slice(1).map(Number) as [number, number, number]
    return {
      ...{ http, grpc, resp },
      isUp: () => child.exitCode === null && child.signalCode === null,
      residentMb: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]) / 1024,
    }
  }
}

interface Asked {
  readonly method?: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string
}

/** Sends one request, with the path unchanged. */
export function ask(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body = '' }: Asked = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: LOOPBACK, port, path, method, headers, agent: CONNECTIONS }, response => {
      let text = ''
      response.setEncoding('utf8').on('data', chunk => (text += chunk))
      response.once('end', () => resolve({ status: response.statusCode!, body: text }))
      response.once('error', reject)
    })
    sent.once('error', reject)
    sent.end(body)
  })
}

export function post(port: number, path: string, body: unknown, headers: OutgoingHttpHeaders = {}): Promise<Answer> {
  return ask(port, path, { method: 'POST', headers, body: JSON.stringify(body) })
}

/** Runs the items in order, this many at a time, and returns how many gave true. */
export async function countOf<T>(
  items: Iterable<T>,
  atOnce: number,
  isSo: (item: T) => Promise<boolean>,
): Promise<number> {
  const left = items[Symbol.iterator]()
  let found = 0
  const worker = async () => {
    for (let next = left.next(); next.done !== true; next = left.next()) if (await isSo(next.value)) found++
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return found
}

export function* upTo(count: number): Generator<number> {
  for (let i = 0; i < count; i++) yield i
}
