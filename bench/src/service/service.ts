import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const COMMAND = createRequire(import.meta.url).resolve('sluice-server/bin/sluice.js')
const READY_WITHIN_MS = 15_000
const ANNOUNCED = /http:\/\/\S+:(\d+) .*grpc:\/\/\S+:(\d+) .*redis:\/\/\S+:(\d+) /

/** The service as its users run it, in a process of its own. */
export interface Service {
  readonly pid: number
  readonly http: number
  readonly grpc: number
  readonly resp: number
  stop(): void
}

/** Enough to start with, for doors that need no rules. */
const ANY_RULES = 'limits:\n  any: { key: any, sliding-window: 1/1s }\n'

/** Started with these rules; `flags` as of `sluice serve`. */
export async function startService(rules = ANY_RULES, flags: readonly string[] = []): Promise<Service> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  const file = join(folder, 'rules.yaml')
  writeFileSync(file, rules)
  const ports = ['--http-port', '0', '--grpc-port', '0', '--resp-port', '0']
  const child = spawn(process.execPath, [COMMAND, 'serve', file, ...ports, ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const stop = () => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', stop)
  const [http, grpc, resp] = await new Promise<number[]>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the service did not start')), READY_WITHIN_MS)
    let text = ''
    child.stdout.on('data', chunk => {
      text += chunk
      const found = ANNOUNCED.exec(text)
      if (found === null) return
      clearTimeout(timer)
      resolve(found.slice(1).map(Number))
    })
    child.once('exit', code => reject(new Error(`the service ended with code ${code}`)))
  })
  return { pid: child.pid!, http: http!, grpc: grpc!, resp: resp!, stop }
}
