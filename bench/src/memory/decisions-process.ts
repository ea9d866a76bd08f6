// One process of a case: node decisions-process.js <case> <rounds> <slice ms> <other checkout>. All contestants are in it.
import * as ours from 'sluice'
import { libraryOf, nameOf } from '../checkout.ts'
import { answer, endWithParent } from '../child.ts'
import { measure } from '../harness.ts'
import { keysOf } from '../keys.ts'
import { decisions, keysIn } from './decisions.ts'
import * as loops from './sluice.ts'

endWithParent()
const [name = '', rounds, sliceMs, against = ''] = process.argv.slice(2)
const found = decisions[name]!
const keys = keysOf(keysIn(found))
const other = against === '' ? [] : [await builtAt(against)]
const field = {
  sluice: () => found.sluice(loops, ours, keys),
  peers: [...other, ...(found.peers?.(keys) ?? [])],
  references: found.references?.(keys) ?? [],
  fill: keys.size,
}
answer(await measure(field, { rounds: Number(rounds), sliceMs: Number(sliceMs) }))

async function builtAt(directory: string) {
  // The query makes it a second instance of the module: see Build.
  const again: string = new URL('./sluice.js?another', import.meta.url).href
  const [theirLoops, theirs] = (await Promise.all([import(again), import(libraryOf(directory, 'index.js').href)])) as [
    typeof loops,
    typeof ours,
  ]
  return { ...found.sluice(theirLoops, theirs, keys), name: nameOf(directory) }
}
