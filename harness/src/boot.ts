import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type OwnProcess, startProcess } from './own-process.ts'
import { ask } from './resp.ts'

export const LOOPBACK = '127.0.0.1'

const READY_WITHIN_MS = 5000

export interface Boot {
  program: string
  dir: string
  /** A free port of the system if missing. */
  port?: number | undefined
  argsFor: (port: number) => readonly string[]
  env?: Readonly<Record<string, string>> | undefined
}

/**
 * Starts Redis and resolves when it answers. If the port is taken, waits for it if it was given, else takes another.
 */
export async function boot(how: Boot): Promise<{ child: OwnProcess; port: number }> {
  const { program, dir, port: wanted, argsFor, env } = how
  const deadline = performance.now() + READY_WITHIN_MS
  for (;;) {
    const port = wanted ?? (await freePort())
    const child = startProcess(program, argsFor(port), join(dir, 'redis.log'), env)
    while (child.isRunning && performance.now() < deadline) {
      if (await answersAs(child, port)) return { child, port }
      await sleep(5)
    }
    await child.kill()
    const output = child.output()
    if (performance.now() >= deadline || !output.includes('Address already in use')) {
      throw new Error(`${program} did not answer on port ${port}:\n${output.trim()}`)
    }
    await sleep(20)
  }
}

/** Checks the pid, because another server on the same port would answer a PING, too. */
async function answersAs({ pid }: OwnProcess, port: number): Promise<boolean> {
  try {
    const info = await ask({ host: LOOPBACK, port }, ['INFO', 'server'], 250)
    return String(info).includes(`process_id:${pid}\r\n`)
  } catch (error) {
    // A server that asks for a password is up.
    return /^NOAUTH/.test((error as Error).message)
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, LOOPBACK, () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
