// Attacks a built service and the adapters over loopback, one attack after another, and reports what got through.
import { fileURLToPath } from 'node:url'
import { ATTACKS } from './attack/all.ts'
import { held, type Outcome, outcomeOf, table } from './attack/attack.ts'
import { Site } from './attack/site.ts'

const LONGEST_MS = 60_000
const BUILT = { words: [process.execPath, fileURLToPath(new URL('../packages/server/bin/sluice.js', import.meta.url))] }

const only = process.argv[2]?.toLowerCase() ?? ''
const startedAt = performance.now()
const outcomes: Outcome[] = []
const chosen = ATTACKS.filter(({ name }) => name.toLowerCase().includes(only))
if (chosen.length === 0) {
  console.error(`no attack has '${only}' in its name; there are:\n${ATTACKS.map(({ name }) => name).join('\n')}`)
  process.exit(2)
}
for (const attack of chosen) {
  console.error(attack.name)
  outcomes.push(await outcomeOf(attack, () => new Site(BUILT), LONGEST_MS))
}
console.log(table(outcomes))
for (const { attack, error } of outcomes) if (error !== undefined) console.log(`\n${attack.name}: ${error}`)
const through = outcomes.filter(outcome => !held(outcome)).length
const seconds = ((performance.now() - startedAt) / 1000).toFixed(0)
console.log(`\n${outcomes.length - through} held, ${through} got through, in ${seconds} s`)
process.exit(through === 0 ? 0 : 1)
