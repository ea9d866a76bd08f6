import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/**
 * Runs a module in a fresh process and returns the value that it passed to `answer`, if any. Its output appears as
 * output of this process. After `limitMs` the process is killed, which is an error.
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

/** Starts a module of the caller's folder in a process of its own: the built one or, in tests, the source. */
export function startBeside(callerUrl: string, name: string, args: readonly string[]): ChildProcess {
  const isBuilt = callerUrl.endsWith('.js')
  const module = fileURLToPath(new URL(isBuilt ? `${name}.js` : `${name}.ts`, callerUrl))
  const asWritten = { TSX_TSCONFIG_PATH: fileURLToPath(new URL('../../tsconfig.base.json', import.meta.url)) }
  return fork(module, [...args], {
    execArgv: ['--expose-gc', ...(isBuilt ? [] : ['--import', 'tsx', '--conditions=@sluice/source'])],
    env: { ...process.env, ...(isBuilt ? {} : asWritten) },
  })
}

/** The child's next message; an error if it ends before. */
export function nextMessage<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`a process of the benchmark ended with code ${code}`))
    child.once('exit', ended)
    child.once('message', message => {
      child.off('exit', ended)
      resolve(message as T)
    })
  })
}

/** Called in a child. Sends the answer and exits, even if a library has left timers running. */
export function answer(message: unknown): void {
  process.send?.(message, () => process.exit(0))
}

/** Called first in a child. Ends it when its parent is gone. */
export function endWithParent(): void {
  process.once('disconnect', () => process.exit(1))
}
