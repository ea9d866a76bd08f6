import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inChild } from './child.ts'
import { ROOT } from './copies.ts'
import { HUNG, type Told } from './suite-run.ts'

/** As much of vitest's report as is read here. */
interface Report {
  readonly testResults: readonly {
    readonly message: string
    readonly assertionResults: readonly {
      readonly fullName: string
      readonly status: string
      readonly duration?: number
      readonly failureMessages: readonly string[]
    }[]
  }[]
}

const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs')

/** Runs test files of one copy, until the first test that fails. */
export async function runTests(copy: string, files: readonly string[]): Promise<Told> {
  const reportFile = join(copy, 'report.json')
  const report = ['--reporter=json', `--outputFile=${reportFile}`]
  // In threads: ending the process ends them too.
  const how = ['--no-isolate', '--pool=threads', '--bail=1', '--testTimeout=2000']
  const { errors, hung } = await inChild([VITEST, 'run', '--root', copy, ...report, ...how, ...files])
  if (hung) return HUNG
  if (!existsSync(reportFile)) throw new Error(`the tests did not run: ${errors.trim()}`)
  const { testResults } = JSON.parse(readFileSync(reportFile, 'utf8')) as Report
  const results = testResults.flatMap(({ assertionResults }) => assertionResults)
  const failed = results.find(({ status }) => status === 'failed')
  const silent = testResults.find(({ assertionResults }) => assertionResults.length === 0)
  if (failed === undefined && (silent !== undefined || results.length === 0)) {
    throw new Error(`no test ran: ${silent?.message ?? errors}`)
  }
  return {
    cases: Object.fromEntries(results.map(({ fullName, duration = 0 }) => [fullName, duration])),
    ...(failed && { failed: { name: failed.fullName, message: failed.failureMessages.join('\n').slice(0, 1000) } }),
  }
}
