import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { breaches, MAY_IMPORT } from '../../../scripts/boundaries.ts'

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

test('the sources keep to the table', () => {
  const found = sources()
  expect(found).toContain(lib('clock.ts'))
  expect(found.flatMap(path => breaches(path, readFileSync(root + path, 'utf8')))).toEqual([])
})

test('every directory of the library is in the table', () => {
  const dirs = readdirSync(root + lib(''), { withFileTypes: true }).filter(
    entry => entry.isDirectory() && entry.name !== 'fixtures',
  )
  expect(dirs.map(dir => dir.name).filter(name => !(name in MAY_IMPORT))).toEqual([])
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
  ['limiter/limiter.ts', "import { x } from '../algorithms/rule.ts'", 'limiter may not import algorithms/rule.ts'],
  ['limiter/limiter.ts', "import { x } from '../stores/redis/a.ts'", 'limiter may not import stores/redis/a.ts'],
  [
    'limiter/limiter.ts',
    "const x = await import('../http/guard/guard.ts')",
    'limiter may not import http/guard/guard.ts',
  ],
  ['rules/rules.ts', "import { x } from '../stores/store.ts'", 'rules may not import stores/store.ts'],
  ['http/guard/guard.ts', "export * from '../../stores/store.ts'", 'http may not import stores/store.ts'],
  ['http/guard/guard.ts', "type X = import('../../stores/store.ts').Store", 'http may not import stores/store.ts'],
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

const typesOnly = ['overload', 'telemetry'].flatMap((name): Plant[] => {
  const complaint = `${name} may import limiter/limiter.ts with \`import type\` only`
  return [
    [`${name}/a.ts`, "import { createLimiter } from '../limiter/limiter.ts'", complaint],
    [`${name}/a.ts`, "import { type Limiter } from '../limiter/limiter.ts'", complaint],
  ]
})

const siblings: Plant[] = [
  [
    'stores/redis/a.ts',
    "import { x } from '../memory/b.ts'",
    'stores/redis/a.ts may not import its sibling stores/memory/b.ts',
  ],
  [
    'stores/remote/leased.ts',
    "import { x } from './resilient.ts'",
    'stores/remote/leased.ts may not import its sibling stores/remote/resilient.ts',
  ],
  ['http/express.ts', "import { x } from './koa.ts'", 'http/express.ts may not import its sibling http/koa.ts'],
  [
    'stores/remote/leased.ts',
    "import { x } from '../memory/b.ts'",
    'stores/remote/leased.ts may not import stores/memory/b.ts: a wrapper takes any Store',
  ],
  [
    'testing/oracle/log.ts',
    "import { x } from '../../algorithms/exact.ts'",
    'testing/oracle/log.ts may not import algorithms/exact.ts: the oracle shares no code with the kernels',
  ],
]

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

const names = [
  'export const version = 1',
  "import './clock.ts'",
  "export * from './clock.ts'",
  'export { x }',
  'export default 1',
].map((code): Plant => ['index.ts', code, "index.ts holds nothing but `export { names } from './file.ts'`"])

describe.each(Object.entries({ area, typesOnly, siblings, packages, clock, names }))(
  'a planted %s fault',
  (_, plants) => {
    test.each(plants)('in %s is reported: %s', (file, source, complaint) => {
      expect(breaches(lib(file), `// line 1\n${source}\n`)).toEqual([`${lib(file)}:2 ${complaint}`])
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
  expect(breaches(path, source)).toEqual([expect.stringContaining(complaint)])
})

test.each([
  [lib('limiter/limiter.ts'), "import { x } from '../stores/memory/index.ts'"],
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
  expect(breaches(path, source)).toEqual([])
})
