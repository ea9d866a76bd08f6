import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/**
 * Runs a module in a fresh process and returns what it handed to `answer`, if anything. What it prints is seen as
 * printed here. Bounded: after `limitMs` it is killed, and that is an error.
 */
export function inChild(module: URL, args: readonly string[], limitMs: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const execArgv = [...process.execArgv]
    // The million-key cases hold every contestant's keys at once, and footprints are taken after a forced collection.
    for (const flag of ['--expose-gc', '--max-old-space-size=6144']) if (!execArgv.includes(flag)) execArgv.push(flag)
    const child = fork(fileURLToPath(module), [...args], { execArgv, timeout: limitMs, killSignal: 'SIGKILL' })
    let answered: unknown
    child.on('message', message => {
      answered = message
    })
    child.on('error', reject)
    child.on('exit', (code, signal) => {
      if (code === 0) resolve(answered)
      else reject(new Error(`${args.join(' ')} ended with ${signal ?? `code ${code}`} (limit ${limitMs / 1000} s)`))
    })
  })
}

/** The child's side: hands the answer over and ends, whatever timers a library has left running. */
export function answer(message: unknown): void {
  process.send?.(message, () => process.exit(0))
}

/** The child's side, first of all: nobody is left running when the process that asked is gone. */
export function endWithParent(): void {
  process.once('disconnect', () => process.exit(1))
}
