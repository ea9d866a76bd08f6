import { parseArgs } from 'node:util'
import { inChild } from './child.ts'
import { type Suite, suites } from './suites.ts'

const CASE_LIMIT_MS = 15 * 60_000

const USAGE = `npm run bench -- <suite> [--case substring] [--rounds n] [--slice ms]
suites, and their usual rounds and slices: ${Object.entries(suites).map(told).join(', ')}
--slice is how many milliseconds each contestant runs in each round`

const asked = readArguments()
const suite = asked === undefined ? undefined : suites[asked.suite]
if (asked === undefined || suite === undefined) {
  console.error(USAGE)
  process.exit(2)
}

const all = await suite.load()
const chosen = all.filter(({ name }) => name.toLowerCase().includes(asked.only.toLowerCase()))
if (chosen.length === 0) {
  console.error(`no case of '${asked.suite}' has '${asked.only}' in its name; there are:`)
  for (const { name } of all) console.error(`  ${name}`)
  process.exit(2)
}

const { rounds = suite.settings.rounds, sliceMs = suite.settings.sliceMs } = asked
console.log(`node ${process.version}, ${process.arch}; ${rounds} rounds of about ${sliceMs} ms each`)
for (const { name } of chosen) {
  const args = [asked.suite, name, String(rounds), String(sliceMs)]
  try {
    await inChild(new URL('./case.js', import.meta.url), args, CASE_LIMIT_MS)
  } catch (error) {
    console.error(`\n${name}: ${(error as Error).message}`)
    process.exitCode = 1
  }
}

function readArguments() {
  try {
    const { positionals, values } = parseArgs({
      allowPositionals: true,
      options: {
        case: { type: 'string', default: '' },
        rounds: { type: 'string' },
        slice: { type: 'string' },
      },
    })
    const rounds = values.rounds === undefined ? undefined : Number(values.rounds)
    const sliceMs = values.slice === undefined ? undefined : Number(values.slice)
    const isSane = isCount(rounds ?? 1) && (sliceMs ?? 1) >= 1 && positionals.length === 1
    return isSane ? { suite: positionals[0]!, only: values.case, rounds, sliceMs } : undefined
  } catch {
    return undefined
  }
}

function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 1
}

function told([name, { settings }]: [string, Suite]): string {
  return `${name} (${settings.rounds} of ${settings.sliceMs} ms)`
}
