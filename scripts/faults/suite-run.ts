import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type Copies, ROOT } from './copies.ts'

/** What a child is asked: which copy to test, and the names of the cases to begin with. */
export interface Task {
  readonly copy: string
  readonly order: readonly string[]
}

/** What it answers: how long each case took, in milliseconds, and the one that failed. */
export interface Told {
  readonly cases: Record<string, number>
  failed?: { readonly name: string; readonly message: string }
}

const LONGEST_MS = 60_000
const SCRIPT = fileURLToPath(new URL('run-suite.ts', import.meta.url))

/** Runs the suite on one copy in a process of its own: a fault may end it or never end. */
export function runSuite(task: Task, { tsconfig }: Copies): Promise<Told> {
  return new Promise((resolve, reject) => {
    // Not by the tsx command, which would be a process between: ending it would leave a hung child behind.
    const child = spawn(process.execPath, ['--import', 'tsx', SCRIPT, JSON.stringify(task)], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, TSX_TSCONFIG_PATH: tsconfig, TSX_DISABLE_CACHE: '1' },
    })
    let [output, errors, hung] = ['', '', false]
    child.stdout.on('data', chunk => {
      output += chunk
    })
    child.stderr.on('data', chunk => {
      errors += chunk
    })
    const end = () => child.kill('SIGKILL')
    process.on('exit', end)
    const timer = setTimeout(() => {
      hung = true
      end()
    }, LONGEST_MS)
    child.on('error', reject)
    child.on('close', code => {
      clearTimeout(timer)
      process.off('exit', end)
      if (hung) resolve({ cases: {}, failed: { name: `hung: ended after ${LONGEST_MS / 1000} s`, message: 'hung' } })
      else if (code === 0) resolve(JSON.parse(output))
      else reject(new Error(`the suite did not run: ${errors.trim() || `exit code ${code}`}`))
    })
  })
}
