// Proves that the conformance suite, and the tests beside it, find faults: plants one fault after another in a copy of
// the library, and each must make a test fail.
import { FAULTS } from './faults/all.ts'
import { Copies } from './faults/copies.ts'
import { type Fault, LAWS, PARTS, type Part } from './faults/fault.ts'
import { runSuite, type Told } from './faults/suite-run.ts'
import { runTests } from './faults/test-run.ts'

const AT_ONCE = 2
const startedAt = performance.now()
const copies = new Copies()
const testFiles = [...new Set(FAULTS.flatMap(({ tests = [] }) => tests))]
const sound = await soundly(() => onCopy(undefined, []))
const soundTests = await soundly(() => onCopy(undefined, [], testFiles))
const red = sound.failed ?? soundTests.failed
if (red !== undefined) {
  const { name, message } = red
  console.log(`✗ the suite is red without any fault: ${name}\n${message}\n\n0 passed, 1 failed`)
  process.exit(1)
}

const rows: { fault: Fault; seenBy: string | undefined; trouble: string }[] = []
const left = [...FAULTS.entries()]
await Promise.all(Array.from({ length: AT_ONCE }, worker))
const missing = uncovered()
print()
process.exitCode = rows.some(row => row.seenBy === undefined) || missing.length > 0 ? 1 : 0

async function worker(): Promise<void> {
  for (let next = left.shift(); next !== undefined; next = left.shift()) {
    const [place, fault] = next
    try {
      const { failed } = await onCopy(fault, orderFor(fault), fault.tests)
      rows[place] = { fault, seenBy: failed?.name, trouble: failed === undefined ? 'no case saw it' : '' }
    } catch (error) {
      rows[place] = { fault, seenBy: undefined, trouble: (error as Error).message }
    }
  }
}

async function soundly(run: () => Promise<Told>): Promise<Told> {
  return run().catch((error: Error) => ({ cases: {}, failed: { name: 'it did not run', message: error.message } }))
}

async function onCopy(fault: Fault | undefined, order: readonly string[], tests?: readonly string[]): Promise<Told> {
  const copy = copies.make(fault)
  try {
    return await (tests === undefined ? runSuite({ copy, order }, copies) : runTests(copy, tests))
  } finally {
    copies.drop(copy)
  }
}

/** Runs cases about the fault's law and part first, then quick ones, so that the failing case names the matter. */
function orderFor({ law, part }: Fault): string[] {
  const score = (name: string) =>
    2 * Number(lawsIn(name).some(one => law.includes(one))) + Number(PARTS[part].test(name))
  const quicker = ([a, msA]: [string, number], [b, msB]: [string, number]) => score(b) - score(a) || msA - msB
  return Object.entries(sound.cases)
    .sort(quicker)
    .map(([name]) => name)
}

function lawsIn(name: string): number[] {
  return (/\(laws? ([^)]*)\)/.exec(name)?.[1]?.match(/\d+/g) ?? []).map(Number)
}

/** The laws and parts without a fault. */
function uncovered(): string[] {
  const laws = LAWS.filter(law => !FAULTS.some(fault => fault.law.includes(law)))
  const parts = (Object.keys(PARTS) as Part[]).filter(part => !FAULTS.some(fault => fault.part === part))
  return [...laws.map(law => `law ${law}`), ...parts]
}

function print(): void {
  const table = rows.map(({ fault, seenBy }) => [fault.law.join(', '), fault.part, fault.says, seenBy ?? '✗ nobody'])
  table.sort((a, b) => Number.parseInt(a[0]!, 10) - Number.parseInt(b[0]!, 10))
  table.unshift(['law', 'part', 'planted', 'seen by'])
  const widths = [0, 1, 2].map(column => Math.max(...table.map(row => row[column]!.length)))
  for (const row of table) console.log(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
  for (const { fault, seenBy, trouble } of rows) {
    if (seenBy === undefined) console.log(`\n✗ ${fault.part}: ${fault.says} (${fault.file})\n  ${trouble}`)
  }
  for (const what of missing) console.log(`\n✗ no fault for ${what}`)
  const failed = rows.filter(row => row.seenBy === undefined).length + missing.length
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0)
  const cases = Object.keys(sound.cases).length + Object.keys(soundTests.cases).length
  console.log(`\n${cases} cases, green without a fault; ${FAULTS.length} faults in ${seconds} s`)
  console.log(`${rows.length + missing.length - failed} passed, ${failed} failed`)
}
