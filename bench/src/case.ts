// The process of one case: node case.ts <suite> <exact case name> <rounds> <slice ms>. Started by run.ts.
import { endWithParent } from './child.ts'
import { suites } from './suites.ts'

endWithParent()
const [suite = '', name = '', rounds, sliceMs] = process.argv.slice(2)
const found = (await suites[suite]?.load())?.find(candidate => candidate.name === name)
if (found === undefined) throw new Error(`no case '${name}' in suite '${suite}'`)
await found.run({ rounds: Number(rounds), sliceMs: Number(sliceMs) })
process.exit(0)
