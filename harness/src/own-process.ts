import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface OwnProcess {
  readonly pid: number
  readonly isRunning: boolean
  /** The output so far. */
  output(): string
  /** Does nothing once the process has ended: another process may have its pid by then. */
  signal(name: NodeJS.Signals): void
  /** Sends SIGKILL, which also ends a stopped process, and resolves when the process is gone. */
  kill(): Promise<void>
}

const children = new Set<ChildProcess>()
const folders = new Set<string>()

process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
  for (const folder of folders) removeFolder(folder)
})

/** Starts a program that ends with this process and does not keep it alive. Its output goes to `logFile`. */
export function startProcess(
  command: string,
  args: readonly string[],
  logFile: string,
  env: Readonly<Record<string, string>> = {},
): OwnProcess {
  const log = openSync(logFile, 'w')
  const [program, ...rest] = [...dyingWithUs(), command, ...args]
  const child = spawn(program!, rest, { stdio: ['ignore', log, log], env: { ...process.env, ...env } })
  closeSync(log)
  child.unref()
  children.add(child)
  let isRunning = true
  let trouble = ''
  const ended = new Promise<void>(resolve => {
    const end = () => {
      isRunning = false
      children.delete(child)
      resolve()
    }
    child.once('exit', end)
    child.once('error', error => {
      trouble = error.message
      if (child.pid === undefined) end()
    })
  })
  return {
    get pid() {
      return child.pid ?? -1
    },
    get isRunning() {
      return isRunning
    },
    output: () => trouble + readFileSync(logFile, 'utf8'),
    signal: name => void child.kill(name),
    async kill() {
      if (!isRunning) return
      child.ref()
      child.kill('SIGKILL')
      await ended
    },
  }
}

let prefix: readonly string[] | undefined

/**
 * vitest ends its workers by a signal, and then the exit handler above does not run. On Linux the kernel can end the
 * program instead: setpriv asks for SIGKILL at the parent's death, then becomes the program under the same pid.
 */
function dyingWithUs(): readonly string[] {
  const wish = ['setpriv', '--pdeathsig', 'KILL']
  prefix ??= spawnSync(wish[0]!, [...wish.slice(1), 'true']).status === 0 ? wish : []
  return prefix
}

export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-'))
  folders.add(folder)
  return folder
}

export function removeFolder(folder: string): void {
  folders.delete(folder)
  rmSync(folder, { recursive: true, force: true })
}
