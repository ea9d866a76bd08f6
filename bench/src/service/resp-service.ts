import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'

const COMMAND = createRequire(import.meta.url).resolve('sluice-server/bin/sluice.js')
const READY_WITHIN_MS = 15_000

/** The service as its users run it, in a process of its own, with the memory store. */
export interface RespService {
  readonly port: number
  stop(): void
}

export async function startRespService(): Promise<RespService> {
  const ports = ['--http-port', '0', '--grpc-port', '0', '--resp-port', '0']
  const child = spawn(process.execPath, [COMMAND, 'serve', ...ports], { stdio: ['ignore', 'pipe', 'inherit'] })
  process.once('exit', () => child.kill('SIGKILL'))
  return { port: await announcedPort(child), stop: () => child.kill('SIGKILL') }
}

/** It says where it listens when it does. */
function announcedPort(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the service did not start')), READY_WITHIN_MS)
    let text = ''
    child.stdout!.on('data', chunk => {
      text += chunk
      const port = /redis:\/\/\S+:(\d+)/.exec(text)?.[1]
      if (port === undefined) return
      clearTimeout(timer)
      resolve(Number(port))
    })
    child.once('exit', code => reject(new Error(`the service ended with code ${code}`)))
  })
}
