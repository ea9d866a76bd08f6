// Breaks real servers and networks under load, one after another, and says how each fault was met.
import { type Outcome, outcomeOf, SCENARIOS } from './chaos/all.ts'
import { json, LEGEND, table } from './chaos/table.ts'

const startedAt = performance.now()
const only = process.argv[2]?.toLowerCase() ?? ''
const outcomes: Outcome[] = []
for (const scenario of SCENARIOS.filter(({ name }) => name.toLowerCase().includes(only))) {
  const outcome = await outcomeOf(scenario)
  outcomes.push(outcome)
  console.log(json(outcome))
}
console.log(`\n${table(outcomes)}\n\n${LEGEND}`)
for (const { scenario, wrong } of outcomes) for (const what of wrong) console.log(`\n✗ ${scenario.name}: ${what}`)
const failed = outcomes.filter(({ wrong }) => wrong.length > 0).length
const seconds = ((performance.now() - startedAt) / 1000).toFixed(0)
console.log(`\n${outcomes.length - failed} passed, ${failed} failed, in ${seconds} s`)
process.exit(failed === 0 && outcomes.length > 0 ? 0 : 1)
