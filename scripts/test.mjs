// What `npm test` runs, on a fresh clone too: before the first step there is no node_modules to import from.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ensureDependencies } from './dependencies.mjs'
import { run } from './run.mjs'
import { ensureSystemParts } from './system-parts.mjs'

/** Scripts that write a *.generated.ts; each takes `--check` and fails when the file is stale. */
const GENERATORS = ['scripts/generate-lua.ts']

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const filters = process.argv.slice(2)

const bin = (name, args, options) => run(`node_modules/.bin/${name}`, args, options)
const tsx = (args, options) => bin('tsx', ['--conditions=@sluice/source', ...args], options)

await inTurn('dependencies', ensureDependencies)
await inTurn('system parts', () => ensureSystemParts())
await together({
  'lint and format': () => bin('biome', ['check', '--error-on-warnings', '--colors=off']),
  'types: library': () => bin('tsc', ['-p', 'packages/sluice', '--noEmit']),
  'types: studio': () => bin('tsc', ['-p', 'apps/studio']),
  'types: the rest': () => bin('tsc', ['-p', 'tsconfig.test.json']),
})
await together(Object.fromEntries(GENERATORS.map(script => [`up to date: ${script}`, () => tsx([script, '--check'])])))
await inTurn('studio', () => bin('vite', ['build', 'apps/studio', '--logLevel', 'warn']))
await inTurn('tests', () => bin('vitest', ['run', ...filters], { live: true }))
if (filters.length === 0 && existsSync('scripts/faults.ts')) {
  await inTurn('planted faults', () => tsx(['scripts/faults.ts'], { live: true }))
  await inTurn('Lua faults', () => tsx(['scripts/lua-faults.ts'], { live: true }))
}

async function inTurn(name, work) {
  await together({ [name]: work })
}

/** Cheap checks run at once, and all that fail are shown before stopping. */
async function together(steps) {
  const passed = await Promise.all(Object.entries(steps).map(([name, work]) => step(name, work)))
  if (passed.includes(false)) process.exit(1)
}

async function step(name, work) {
  const startedAt = performance.now()
  const line = (mark, note) =>
    `${mark} ${name.padEnd(18)}${((performance.now() - startedAt) / 1000).toFixed(1).padStart(6)} s  ${note}`.trimEnd()
  try {
    const note = await work()
    console.log(line('✓', note?.note ?? ''))
    return true
  } catch (error) {
    console.log(`${line('✗', 'failed')}\n\n${error.message}\n`)
    return false
  }
}
