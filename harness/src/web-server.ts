import { rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort, LOOPBACK } from './boot.ts'
import { makeFolder, removeFolder, startProcess } from './own-process.ts'

/** An installed web server in front of a server of the tests. */
export interface WebServer {
  readonly host: string
  readonly port: number
  readonly pid: number
  /** The output so far. */
  output(): string
  stop(): Promise<void>
}

const READY_WITHIN_MS = 10_000

/**
 * Starts a web server on loopback and resolves when it serves. `commandFor` writes the configuration into the folder.
 * The server must also listen on the unix socket: an answer there proves that the server on the port is ours, too.
 */
export async function startWebServer(
  commandFor: (dir: string, port: number, socket: string) => readonly string[],
): Promise<WebServer> {
  const dir = makeFolder()
  const socket = join(dir, 'ready.sock')
  const deadline = performance.now() + READY_WITHIN_MS
  for (;;) {
    const port = await freePort()
    const command = commandFor(dir, port, socket)
    const child = startProcess(command[0]!, command.slice(1), join(dir, 'output.log'))
    while (child.isRunning && performance.now() < deadline) {
      if ((await accepts({ path: socket })) && (await accepts({ host: LOOPBACK, port }))) {
        const stop = async () => {
          await child.kill()
          removeFolder(dir)
        }
        return { host: LOOPBACK, port, pid: child.pid, output: () => child.output(), stop }
      }
      await sleep(10)
    }
    await child.kill()
    const output = child.output()
    // Another process may take the free port before the server opens it. Then try the next one.
    if (performance.now() >= deadline || !/address already in use/i.test(output)) {
      removeFolder(dir)
      throw new Error(`Not serving on port ${port}: ${command.join(' ')}\n${output.trim()}`)
    }
    rmSync(socket, { force: true })
  }
}

function accepts(where: { path: string } | { host: string; port: number }): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(where)
    const end = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
  })
}
