import { fileURLToPath } from 'node:url'
import { inChild, LONGEST_MS } from './child.ts'
import type { Copies } from './copies.ts'

/** The order to a child: the copy to test, and the names of the cases to run first. */
export interface Task {
  readonly copy: string
  readonly order: readonly string[]
}

/** The child's answer: the time of each case in milliseconds, and the case that failed. */
export interface Told {
  readonly cases: Record<string, number>
  failed?: { readonly name: string; readonly message: string }
}

export const HUNG: Told = { cases: {}, failed: { name: `hung: ended after ${LONGEST_MS / 1000} s`, message: 'hung' } }

const SCRIPT = fileURLToPath(new URL('run-suite.ts', import.meta.url))

/** Runs the suite on one copy. */
export async function runSuite(task: Task, { tsconfig }: Copies): Promise<Told> {
  // Without the tsx command, which would be a process in between: killing it would leave a hung child behind.
  const { code, output, errors, hung } = await inChild(['--import', 'tsx', SCRIPT, JSON.stringify(task)], {
    TSX_TSCONFIG_PATH: tsconfig,
    TSX_DISABLE_CACHE: '1',
  })
  if (hung) return HUNG
  if (code !== 0) throw new Error(`the suite did not run: ${errors.trim() || `exit code ${code}`}`)
  return JSON.parse(output)
}
