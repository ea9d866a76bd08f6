import { spawn } from 'node:child_process'
import { ROOT } from './copies.ts'

/** How a child ended. */
export interface Ended {
  readonly code: number | null
  readonly output: string
  readonly errors: string
  /** Whether it had to be killed because it did not end. */
  readonly hung: boolean
}

export const LONGEST_MS = 60_000

/** Runs Node in a process of its own: a fault may end it or never end. */
export function inChild(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
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
      resolve({ code, output, errors, hung })
    })
  })
}
