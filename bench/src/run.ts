import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Suite } from './bench-case.ts'
import { isBuilt } from './checkout.ts'
import { inChild } from './child.ts'
import { section, withSection } from './docs-page.ts'
import { withFigures } from './figures.ts'
import { circumstances } from './machine.ts'
import type { Report } from './report.ts'
import { suites } from './suites.ts'

const CASE_LIMIT_MS = 15 * 60_000
const PAGE = new URL('../../docs/benchmarks.md', import.meta.url)
const README = new URL('../../README.md', import.meta.url)

const USAGE = `npm run bench -- <suite> [--only text] [--against directory] [--write] [--rounds n] [--slice ms]
suites, and their usual rounds and slices: ${Object.entries(suites).map(told).join(', ')}
--only      runs the cases whose name contains the text
--against   measures the library built in another checkout beside this one (memory, size)
--write     writes the suite's tables into docs/benchmarks.md, with machine, versions and date, and its figures into README.md
--rounds    how many rounds there are, --slice how many milliseconds each contestant runs in each of them`

const asked = readArguments()
const suite = suites[asked.suite] ?? misused(`there is no suite '${asked.suite}'`)
if (asked.against !== undefined && suite.takesAgainst !== true) misused(`'${asked.suite}' measures one build only`)
if (asked.against !== undefined && !isBuilt(asked.against)) misused(`run 'npm run build' in ${asked.against} first`)
if (asked.write && (asked.only !== '' || asked.against !== undefined)) {
  misused('--write writes a whole suite of one build: leave --only and --against out')
}

const all = await suite.load()
const chosen = all.filter(({ name }) => name.toLowerCase().includes(asked.only.toLowerCase()))
if (chosen.length === 0) {
  misused(`no case of '${asked.suite}' has '${asked.only}' in its name; there are:\n${all.map(c => c.name).join('\n')}`)
}

const { rounds = suite.settings.rounds, sliceMs = suite.settings.sliceMs, against = '' } = asked
const under = circumstances({ rounds, sliceMs }, suite)
console.log(under)
const reports: Report[] = []
for (const { name } of chosen) {
  const args = [asked.suite, name, String(rounds), String(sliceMs), against]
  try {
    reports.push(...((await inChild(new URL('./case.js', import.meta.url), args, CASE_LIMIT_MS)) as Report[]))
  } catch (error) {
    console.error(`\n${name}: ${(error as Error).message}`)
    process.exitCode = 1
  }
}
// Write only whole suites to the page: part of one would look complete.
if (asked.write && process.exitCode === undefined) {
  const page = withSection(readFileSync(PAGE, 'utf8'), asked.suite, section(asked.suite, under, reports))
  writeFileSync(PAGE, page)
  writeFileSync(README, withFigures(readFileSync(README, 'utf8'), page))
}

function readArguments() {
  try {
    const { positionals, values } = parseArgs({
      allowPositionals: true,
      options: {
        only: { type: 'string', default: '' },
        against: { type: 'string' },
        write: { type: 'boolean', default: false },
        rounds: { type: 'string' },
        slice: { type: 'string' },
      },
    })
    const { rounds, slice, ...others } = values
    if (positionals.length !== 1) return misused('name one suite')
    return { suite: positionals[0]!, ...others, rounds: numberOf(rounds), sliceMs: numberOf(slice) }
  } catch (error) {
    return misused((error as Error).message)
  }
}

function numberOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  return Number.isInteger(value) && value >= 1 ? value : misused(`expected a whole number, 1 or more, got '${text}'`)
}

function misused(why: string): never {
  console.error(`${why}\n\n${USAGE}`)
  process.exit(2)
}

function told([name, { settings }]: [string, Suite]): string {
  return `${name} (${settings.rounds} of ${settings.sliceMs} ms)`
}
