import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { breaches, MAY_IMPORT } from '../../../scripts/boundaries.ts'
import { importCycles, type ProgramOf } from '../../../scripts/import-graph.ts'
import { type Node, parse, typesIn } from '../../../scripts/syntax.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const IS_SOURCE = /(?<!\.test)\.[cm]?[jt]sx?$/
const IS_NOT_OURS = /(^|\/)(node_modules|dist|fixtures)\//

function sources(): string[] {
  const packages = readdirSync(`${root}packages`).map(name => `packages/${name}/src`)
  return [...packages, 'apps', 'bench', 'examples', 'harness']
    .filter(dir => existsSync(root + dir))
    .flatMap(dir => readdirSync(root + dir, { recursive: true, encoding: 'utf8' }).map(file => `${dir}/${file}`))
    .filter(path => IS_SOURCE.test(path) && !IS_NOT_OURS.test(path))
}

const lib = (file: string) => `packages/sluice/src/${file}`

const programs = new Map<string, Node>()
/** Parsed once, however many files import it. */
const programOf: ProgramOf = path => {
  if (!programs.has(path) && existsSync(root + path)) programs.set(path, parse(path, readFileSync(root + path, 'utf8')))
  return programs.get(path)
}

test('the sources keep to the table', () => {
  const found = sources()
  expect(found).toContain(lib('clock.ts'))
  expect(found.flatMap(path => breaches(path, readFileSync(root + path, 'utf8'), programOf))).toEqual([])
})

test('no files of a package import each other in a circle, not even for a type', () => {
  const files = sources().map(path => [path, programOf(path)!] as const)
  expect(importCycles(new Map(files))).toEqual([])
})

test('a planted circle of imports is reported', () => {
  const files = {
    'a.ts': "import { b } from './b.ts'",
    'b.ts': "export { c } from './c/c.ts'",
    'c/c.ts': "type A = import('../a.ts').A",
    'd.ts': "import type { E } from './e.ts'\nimport { a } from './a.ts'",
    'e.ts': "import type { D } from './d.ts'",
    'f.ts': "import { a } from './a.ts'",
  }
  const parsed = Object.entries(files).map(([path, source]) => [path, parse(path, source)] as const)
  expect(importCycles(new Map(parsed))).toEqual([
    ['a.ts', 'b.ts', 'c/c.ts'],
    ['d.ts', 'e.ts'],
  ])
})

/** Every name of a type that the files declare more than once, and where. */
function declaredTwice(files: readonly (readonly [path: string, program: Node])[]): string[] {
  const declaredIn = new Map<string, string[]>()
  for (const [path, program] of files) {
    for (const name of typesIn(program)) declaredIn.set(name, [...(declaredIn.get(name) ?? []), path])
  }
  return [...declaredIn].filter(([, paths]) => paths.length > 1).map(([name, paths]) => `${name}: ${paths.join(', ')}`)
}

test('no name of a class, interface or type is declared twice in the library and the service', () => {
  // Compat has the names of the packages it stands in for.
  const paths = sources().filter(path => /^packages\/(sluice|server)\/src\/(?!compat\/)/.test(path))
  expect(paths.length).toBeGreaterThan(200)
  expect(declaredTwice(paths.map(path => [path, programOf(path)!]))).toEqual([])
})

test('a name that is declared twice is reported, in whatever way and in whichever files', () => {
  const files = {
    'a.ts': 'export class Queue {}\nclass Inner {}\nfunction f() { type Local = 1 }',
    'b.ts': "interface Queue {}\nimport type { Other } from './c.ts'\ntype Local = 2",
    'c.ts': 'export abstract class Other {}\nexport type Inner<T> = T',
    'd.ts': 'interface Merged {}\ninterface Merged {}',
  }
  const parsed = Object.entries(files).map(([path, source]) => [path, parse(path, source)] as const)
  expect(declaredTwice(parsed)).toEqual(['Queue: a.ts, b.ts', 'Inner: a.ts, c.ts', 'Merged: d.ts, d.ts'])
})

/** Rows for rooms that are not built yet. */
const PLANNED = ['overload', 'telemetry']

test('every directory of the library is in the table', () => {
  const dirs = readdirSync(root + lib(''), { withFileTypes: true }).filter(
    entry => entry.isDirectory() && entry.name !== 'fixtures',
  )
  expect(dirs.map(dir => dir.name).filter(name => !(name in MAY_IMPORT))).toEqual([])
})

test('every room and every file that the table names is there', () => {
  const rooms = Object.keys(MAY_IMPORT).filter(room => room !== 'index' && room !== 'basics')
  const granted = Object.values(MAY_IMPORT).flat()
  const named = [...rooms, ...granted.map(grant => grant.replace(/^type /, '')).filter(grant => !(grant in MAY_IMPORT))]
  const missing = named.filter(name => !PLANNED.includes(name.replace('/', '')) && !existsSync(root + lib(name)))
  expect(missing).toEqual([])
})

/** What the file is, what it says, and the complaint. */
type Plant = [file: string, source: string, complaint: string]

const area: Plant[] = [
  ['duration.ts', "import { gcd } from './algorithms/exact.ts'", 'basics may not import algorithms/exact.ts'],
  ['policy.ts', "export { x } from './index.ts'", 'basics may not import index.ts'],
  [
    'algorithms/gcra.ts',
    "import type { Store } from '../stores/store.ts'",
    'algorithms may not import stores/store.ts',
  ],
  ['stores/store.ts', "import { x } from '../limiter/limiter.ts'", 'stores may not import limiter/limiter.ts'],
  ['limiter/limiter.ts', "import { x } from '../algorithms/gcra.ts'", 'limiter may not import algorithms/gcra.ts'],
  ['limiter/limiter.ts', "import { x } from '../stores/redis/a.ts'", 'limiter may not import stores/redis/a.ts'],
  [
    'limiter/limiter.ts',
    "const x = await import('../http/guard/guard.ts')",
    'limiter may not import http/guard/guard.ts',
  ],
  ['rules/rules.ts', "import { x } from '../stores/store.ts'", 'rules may not import stores/store.ts'],
  ['http/guard/guard.ts', "export { x } from '../../stores/store.ts'", 'http/guard may not import stores/store.ts'],
  [
    'http/guard/guard.ts',
    "type X = import('../../stores/store.ts').Store",
    'http/guard may not import stores/store.ts',
  ],
  ['client/retry.ts', "import { x } from '../http/guard/guard.ts'", 'client may not import http/guard/guard.ts'],
  ['overload/adaptive.ts', "import { x } from '../stores/store.ts'", 'overload may not import stores/store.ts'],
  ['telemetry/metrics.ts', "import { x } from '../rules/a.ts'", 'telemetry may not import rules/a.ts'],
  ['testing/suite.ts', "import { x } from '../http/guard/guard.ts'", 'testing may not import http/guard/guard.ts'],
  ['testing/suite.ts', "import { x } from '../client/retry.ts'", 'testing may not import client/retry.ts'],
  ['limiter/limiter.ts', "import { fakeClock } from '../testing/index.ts'", 'limiter may not import testing/index.ts'],
  ['index.ts', "export { fakeClock } from './testing/index.ts'", 'index may not import testing/index.ts'],
  ['misc/a.ts', "import { x } from '../clock.ts'", 'misc/ is not in the table of who may import whom'],
  ['clock.ts', "import { x } from '../../../scripts/a.ts'", '../../../scripts/a.ts is outside the library'],
  ['limiter/limiter.ts', "const x = await import('../' + name)", 'a computed import cannot be checked'],
]

const typesOnly: Plant[] = [
  [
    'telemetry/a.ts',
    "import { createLimiter } from '../limiter/create.ts'",
    'telemetry may import limiter/create.ts with `import type` only',
  ],
  [
    'telemetry/a.ts',
    "import { type Observer } from '../limiter/limiter.ts'",
    'telemetry may import limiter/limiter.ts with `import type` only',
  ],
  [
    'overload/a.ts',
    "import { type Guard } from '../http/guard/guard.ts'",
    'overload may import http/guard/guard.ts with `import type` only',
  ],
]

const siblings: Plant[] = [
  [
    'stores/remote/leased.ts',
    "import { x } from './resilient.ts'",
    'stores/remote/leased.ts may not import its sibling stores/remote/resilient.ts',
  ],
  ['http/express.ts', "import { x } from './koa.ts'", 'http/express.ts may not import its sibling http/koa.ts'],
]

/** Within `stores`, `http` and `testing`. */
const rooms: Plant[] = [
  ['stores/redis/a.ts', "import { x } from '../memory/b.ts'", 'stores/redis may not import stores/memory/b.ts'],
  ['stores/remote/a.ts', "import { x } from '../memory/b.ts'", 'stores/remote may not import stores/memory/b.ts'],
  ['stores/redis/wire/a.ts', "import { x } from '../../memory/b.ts'", 'stores/redis may not import stores/memory/b.ts'],
  ['stores/charge.ts', "import { x } from './remote/b.ts'", 'stores may not import stores/remote/b.ts'],
  [
    'testing/oracle/log.ts',
    "import { x } from '../../algorithms/exact.ts'",
    'testing/oracle may not import algorithms/exact.ts',
  ],
  [
    'http/adapters/a.ts',
    "import { x } from '../../limiter/limits.ts'",
    'http/adapters may not import limiter/limits.ts',
  ],
  ['http/address/a.ts', "import { x } from '../guard/guard.ts'", 'http/address may not import http/guard/guard.ts'],
]

/** What another file passes on counts as imported from where it is declared. */
const passedOn: Plant[] = [
  ['rules/a.ts', "import { createLimiter, type Store } from '../index.ts'", 'rules may not import index.ts'],
  [
    'testing/oracle/a.ts',
    "import { tokenBucket, memoryStore } from '../../planted-index.ts'",
    'testing/oracle may not import stores/memory/memory-store.ts, and planted-index.ts passes on its memoryStore',
  ],
  [
    'http/guard/a.ts',
    "import type { Kept } from '../../limiter/planted.ts'",
    'http/guard may not import stores/store.ts, and limiter/planted.ts passes on its Kept',
  ],
  [
    'rules/a.ts',
    "import * as all from '../limiter/planted.ts'",
    'rules may not import stores/store.ts, and limiter/planted.ts passes on its Kept',
  ],
  ['limiter/a.ts', "export * from './limits.ts'", '`export *` hides what it passes on: name it'],
]

/** The files that pass names on, beside those of the repository. */
const PLANTED: Readonly<Record<string, string>> = {
  [lib('planted-index.ts')]: "export { memoryStore } from './index.ts'",
  [lib('limiter/planted.ts')]: "import type { Store } from '../stores/store.ts'\nexport type { Store as Kept }",
}
const withPlanted: ProgramOf = path => (path in PLANTED ? parse(path, PLANTED[path]!) : programOf(path))

const packages: Plant[] = [
  [
    'clock.ts',
    "import { performance } from 'node:perf_hooks'",
    'node:perf_hooks does not exist in browsers and workers',
  ],
  ['clock.ts', "import type { Stats } from 'fs'", 'fs does not exist in browsers and workers'],
  ['limiter/limiter.ts', "import { x } from 'sluice'", 'the library imports its own files by relative path'],
  [
    'stores/redis/a.ts',
    "import { Redis } from 'ioredis'",
    'ioredis may be imported with `import type` only: the library has no dependencies',
  ],
]

const clock = ['Date.now()', 'new Date()', 'new Date', 'Date()', '({ now } = Date)', 'globalThis.Date.now()'].map(
  (code): Plant => ['limiter/limiter.ts', code, 'Date belongs in clock.ts only'],
)
clock.push(
  ['limiter/limiter.ts', `\`\${performance.now()}\``, 'performance belongs in clock.ts only'],
  ['limiter/limiter.ts', 'const { now } = performance', 'performance belongs in clock.ts only'],
  ['limiter/limiter.ts', 'process.hrtime.bigint()', 'hrtime belongs in clock.ts only'],
  ['limiter/limiter.ts', 'const time = process.hrtime', 'hrtime belongs in clock.ts only'],
  ['limiter/limiter.ts', 'setTimeout(f, 1)', 'setTimeout belongs in clock.ts only'],
  ['limiter/limiter.ts', 'const later = globalThis.setInterval', 'setInterval belongs in clock.ts only'],
)

const names = ['export const version = 1', "import './clock.ts'", 'export { x }', 'export default 1'].map(
  (code): Plant => ['index.ts', code, "index.ts holds nothing but `export { names } from './file.ts'`"],
)

describe.each(Object.entries({ area, typesOnly, siblings, rooms, passedOn, packages, clock, names }))(
  'a planted %s fault',
  (_, plants) => {
    test.each(plants)('in %s is reported: %s', (file, source, complaint) => {
      expect(breaches(lib(file), `// line 1\n${source}\n`, withPlanted)).toEqual([`${lib(file)}:2 ${complaint}`])
    })
  },
)

test.each([
  ['bench/src/run.ts', "import { x } from '../../packages/sluice/src/clock.ts'", 'reaches out of bench/'],
  ['packages/server/src/main.ts', "import { x } from '../../sluice/src/clock.ts'", 'reaches out of packages/server/'],
  ['apps/studio/src/main.ts', "import { x } from 'sluice/src/clock.ts'", 'is not a public entry point'],
  ['apps/studio/src/main.ts', "import { x } from 'node:fs'", 'does not exist in browsers'],
  ['examples/express/app.mjs', "import { x } from '../../bench/src/run.ts'", 'reaches out of examples/'],
])('a planted fault outside the library, in %s, is reported: %s', (path, source, complaint) => {
  expect(breaches(path, source, programOf)).toEqual([expect.stringContaining(complaint)])
})

test.each([
  [lib('limiter/limiter.ts'), "import { x } from '../stores/memory/memory-store.ts'"],
  [lib('limiter/limiter.ts'), "import { ruleOf } from '../algorithms/rule.ts'"],
  [lib('overload/a.ts'), "import { createLimiter } from '../limiter/create.ts'"],
  [lib('overload/a.ts'), "import type { Guard } from '../http/guard/guard.ts'"],
  [lib('telemetry/a.ts'), "import type { Observer } from '../limiter/limiter.ts'"],
  [lib('client/a.ts'), "import { retryAfterSeconds } from '../http/response/headers.ts'"],
  [lib('testing/suite.ts'), "import { tokenBucket, memoryStore } from '../index.ts'"],
  [lib('limiter/limiter.ts'), "import { x } from '../clock.ts'\nimport { y } from './other.ts'"],
  [lib('stores/redis/a.ts'), "import { x } from '../remote/resilient.ts'\nimport type { Redis } from 'ioredis'"],
  [
    lib('client/retry.ts'),
    "import type { Limiter } from '../limiter/limiter.ts'\nimport { createLimiter } from '../limiter/create.ts'",
  ],
  [lib('testing/suite.ts'), "import { x } from '../stores/memory/index.ts'\nimport { y } from '../index.ts'"],
  [lib('limiter/limiter.ts'), "// Date.now()\nconst s = 'Date.now() setTimeout'; const r = /Date.now()/"],
  [lib('limiter/limiter.ts'), 'new Date(0); Date.UTC(1970); x instanceof Date; clock.setTimeout; const y: Date = z'],
  [lib('limiter/limiter.ts'), 'type Handle = ReturnType<typeof setTimeout>; interface Timers { setTimeout(): void }'],
  [lib('clock.ts'), 'Date.now(); performance.now(); setTimeout(f, 1)'],
  [lib('index.ts'), "export { x } from './clock.ts'\nexport type { Clock } from './clock.ts'"],
  ['bench/src/run.ts', "import { x } from 'sluice'\nimport { y } from 'sluice/testing'\nimport './own.ts'\nDate.now()"],
])('what the table allows is not reported: %s: %s', (path, source) => {
  expect(breaches(path, source, programOf)).toEqual([])
})
