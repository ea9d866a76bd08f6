// The process of one case: node case.ts <suite> <exact case name> <rounds> <slice ms> <other checkout>. Started by run.ts.
import { answer, endWithParent } from './child.ts'
import { printed } from './report.ts'
import { suites } from './suites.ts'

endWithParent()
const [suite = '', name = '', rounds, sliceMs, against = ''] = process.argv.slice(2)
const found = (await suites[suite]?.load())?.find(candidate => candidate.name === name)
if (found === undefined) throw new Error(`no case '${name}' in suite '${suite}'`)
await found.run({ rounds: Number(rounds), sliceMs: Number(sliceMs), ...(against === '' ? {} : { against }) })
answer(printed)
