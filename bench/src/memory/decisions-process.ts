// One process of a case: node decisions-process.js <case> <rounds> <slice ms>. All contestants are in it.
import { answer, endWithParent } from '../child.ts'
import { measure } from '../harness.ts'
import { keysOf } from '../keys.ts'
import { decisions } from './decisions.ts'

endWithParent()
const [name = '', rounds, sliceMs] = process.argv.slice(2)
const { keys, fieldOf } = decisions[name]!
answer(await measure({ ...fieldOf(keysOf(keys)), fill: keys }, { rounds: Number(rounds), sliceMs: Number(sliceMs) }))
