import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Task, Told } from './suite-run.ts'

// Runs the store suite of one copy of the library on that copy's memory store, until the first case that fails.
const task: Task = JSON.parse(process.argv[2]!)
const load = (file: string) => import(pathToFileURL(join(task.copy, file)).href)
const { memoryStore } = (await load('index.ts')) as typeof import('sluice')
const { storeSuite } = (await load('testing/index.ts')) as typeof import('sluice/testing')

const told: Told = { cases: {} }
const cases = storeSuite(options => memoryStore(options)).filter(({ skip }) => skip === undefined)
let running = ''
// An error outside the awaited code of a case, as in a promise that nothing awaits, fails it, too.
process.on('uncaughtException', error => {
  told.failed = { name: running, message: String(error).slice(0, 1000) }
  tell()
})
const rank = (name: string) => task.order.indexOf(name)
for (const { name, run } of cases.sort((a, b) => rank(a.name) - rank(b.name))) {
  running = name
  const startedAt = performance.now()
  try {
    await run()
  } catch (error) {
    told.failed = { name, message: String(error).slice(0, 1000) }
  }
  told.cases[name] = performance.now() - startedAt
  if (told.failed !== undefined) break
}
tell()

/** Exits at once, so that a second failing promise is not reported, too. */
function tell(): never {
  writeFileSync(1, JSON.stringify(told))
  process.exit()
}
