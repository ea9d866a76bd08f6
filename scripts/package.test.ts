import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { gzipSync } from 'node:zlib'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { build as bundle } from 'esbuild'
import { publint } from 'publint'
import { build as buildSite } from 'vite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { folderOf, RUNTIMES, start } from '../packages/sluice/src/fixtures/http/runtimes/runtime.ts'
import { linkModules, type Packed, pack, ROOT, run, unpack } from './consumers/pack.ts'
import { serveRegistry } from './consumers/registry.ts'

/** Enough for a build, a bundler or a compiler on a busy machine. */
const SLOW_MS = 300_000
const NAMES = ['sluice', 'sluice-server'] as const

let work: string
let app: string
let packed: Record<(typeof NAMES)[number], Packed>

/** The folder of a user who has installed both tarballs and everything else that is installed here. */
beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), 'sluice-package-'))
  app = join(work, 'app')
  packed = await pack(work)
  await linkModules(join(app, 'node_modules'), {}, app)
  for (const name of NAMES) await unpack(packed[name], join(app, 'node_modules', name))
  const isOwn = (path: string) => !path.startsWith(join(ROOT, 'scripts/consumers/node_modules'))
  await cp(join(ROOT, 'scripts/consumers'), app, { recursive: true, filter: isOwn })
}, SLOW_MS)

afterAll(() => rm(work, { recursive: true, force: true }))

const installed = (name: string, path: string) => readFile(join(app, 'node_modules', name, path), 'utf8')
const manifestOf = async (name: string) => JSON.parse(await installed(name, 'package.json'))
const node = (path: string) => run(process.execPath, [path], app)

describe.each(NAMES)('the tarball of %s', name => {
  test('has what a package has beside code, and no test code', () => {
    const { files } = packed[name]
    expect(files).toEqual(expect.arrayContaining(['package.json', 'README.md', 'LICENSE']))
    expect(files.filter(path => /\.test\.|fixtures|tsbuildinfo|(^|\/)src\//.test(path))).toEqual([])
  })

  test('has a map with its source for every file of code', async () => {
    const code = packed[name].files.filter(path => /^dist\/.*\.js$/.test(path))
    expect(code.length).toBeGreaterThan(50)
    for (const path of code) {
      const { sources, sourcesContent } = JSON.parse(await installed(name, `${path}.map`))
      expect([sources.length, sourcesContent.length], path).toEqual([1, 1])
    }
  })

  test('publint finds nothing', async () => {
    const { buffer } = new Uint8Array(await readFile(packed[name].tarball))
    const { messages } = await publint({ pack: { tarball: buffer }, strict: true, level: 'suggestion' })
    expect(messages).toEqual([])
  })

  test('it can be published: it is not private, and runs nothing when it is installed', async () => {
    const { private: isPrivate, scripts } = await manifestOf(name)
    expect({ isPrivate, scripts }).toEqual({})
  })
})

test('the library depends on nothing, the service on the library of its version', async () => {
  const { version, dependencies, optionalDependencies, bundledDependencies } = await manifestOf('sluice')
  expect({ dependencies, optionalDependencies, bundledDependencies }).toEqual({})
  expect((await manifestOf('sluice-server')).dependencies.sluice).toBe(version)
})

test('the library holds its two builds and the page that error messages name, nothing else', async () => {
  const known =
    /^(package\.json|README\.md|LICENSE|errors\.md|dist\/cjs\/package\.json|dist\/(esm|cjs)\/.*\.(js|js\.map|d\.ts))$/
  expect(packed.sluice.files.filter(path => !known.test(path))).toEqual([])
  const [, page, heading] = /see (\S+)#([a-z_]+)\]/.exec(
    await node(
      await script(`import { createLimiter } from 'sluice'
      try { createLimiter('1/s').consume('a', { cost: 0.9 }) } catch (error) { console.log(error.message) }`),
    ),
  )!
  expect((await readFile(join(app, page!), 'utf8')).toLowerCase()).toContain(`\n## ${heading}\n`)
})

async function script(source: string): Promise<string> {
  await writeFile(join(app, 'script.mjs'), source)
  return 'script.mjs'
}

test('every entry point is there for import and require, and for TypeScript that reads no exports', async () => {
  const { exports, typesVersions, main, types } = await manifestOf('sluice')
  const { './package.json': manifest, ...entries } = exports
  expect(manifest).toBe('./package.json')
  const older: Record<string, string[]> = {}
  for (const [entry, { import: module, require: common }] of Object.entries<Record<string, Entry>>(entries)) {
    const path = module!.default.replace(/^\.\/dist\/esm\/(.*)\.js$/, '$1')
    expect(module, entry).toEqual({ types: `./dist/esm/${path}.d.ts`, default: `./dist/esm/${path}.js` })
    expect(common, entry).toEqual({ types: `./dist/cjs/${path}.d.ts`, default: `./dist/cjs/${path}.js` })
    const files = [module, common].flatMap(build => Object.values(build!))
    expect(packed.sluice.files).toEqual(expect.arrayContaining(files.map(file => file.slice(2))))
    if (entry === '.') expect({ main, types }).toEqual({ main: common!.default, types: common!.types })
    else older[entry.slice(2)] = [common!.types]
  }
  expect(typesVersions).toEqual({ '*': older })
})

interface Entry {
  types: string
  default: string
}

test('no file imports what is neither packed nor an optional peer', async () => {
  const { files } = packed.sluice
  const { peerDependencies, peerDependenciesMeta } = await manifestOf('sluice')
  const peers = Object.keys(peerDependencies)
  expect(peers.filter(name => !peerDependenciesMeta[name]?.optional)).toEqual([])
  const imports = /^(?:import|export) [\w*{},\s]*? from '([^']+)'|\brequire\("([^"]+)"\)/gm
  for (const path of files.filter(path => /\.(js|d\.ts)$/.test(path))) {
    for (const [, module, common] of (await installed('sluice', path)).matchAll(imports)) {
      const from = (module ?? common)!
      if (from.startsWith('.')) {
        const target = posix.join(posix.dirname(path), from)
        // Declarations keep the .ts of the sources, and TypeScript reads it as .d.ts.
        const file = path.endsWith('.js') ? target : target.replace(/\.[jt]s$/, '.d.ts')
        expect(files, `${path} imports ${from}`).toContain(file)
      } else if (path.endsWith('.js')) {
        // A user of the Nest adapter has Nest. Of the other peers, the library imports only types.
        expect(path, `${path} imports ${from}`).toMatch(/^dist\/(esm|cjs)\/http\/(adapters\/)?nest/)
        expect(peers.filter(name => name.startsWith('@nestjs/'))).toContain(from)
      } else {
        expect([...peers, 'node:http'], `${path} imports ${from}`).toContain(from)
      }
    }
  }
})

test('are-the-types-wrong finds nothing', { timeout: SLOW_MS }, async () => {
  const checked = await checkPackage(createPackageFromTarballData(await readFile(packed.sluice.tarball)))
  expect(checked).toMatchObject({ problems: [] })
})

/** A program of a few lines with the library in it, as esbuild minifies it for a browser or a worker. */
async function minified(contents: string): Promise<{ gzippedKB: number; areas: string[] }> {
  const options = {
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    logLevel: 'error',
    metafile: true,
  } as const
  const { outputFiles, metafile } = await bundle({ stdin: { contents, resolveDir: app }, ...options })
  const inputs = Object.entries(Object.values(metafile.outputs)[0]!.inputs)
  const shipped = inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => path)
  const areas = shipped.flatMap(path => /sluice\/dist\/esm\/((?:stores\/)?\w+)\//.exec(path)?.[1] ?? [])
  const gzippedKB = gzipSync(outputFiles[0]!.contents, { level: 9 }).length / 1000
  return { gzippedKB, areas: [...new Set(areas)].sort() }
}

test.each([
  [
    32,
    ['algorithms', 'limiter', 'stores', 'stores/memory'],
    `import { createLimiter, slidingWindow } from 'sluice'
     export const limiter = createLimiter(slidingWindow({ limit: 100, window: '1m' }))`,
  ],
  [
    51,
    ['algorithms', 'http', 'limiter', 'stores', 'stores/memory'],
    `import { rateLimit } from 'sluice/fetch'
     export const guard = rateLimit({ policy: '100/m' })`,
  ],
])('at most %i KB travel, minified and gzipped, of %j: %s', async (most, areas, program) => {
  const shipped = await minified(program)
  expect(shipped.areas).toEqual(areas)
  expect(shipped.gzippedKB).toBeLessThan(most)
})

test('both builds in one process take what the other has made', async () => {
  const facts = {
    'they are two builds': true,
    policy: [true, false],
    'one store for both': [[true, true], false],
    'a decision is refunded by the other': true,
    guard: [200, 429],
    identity: [200, 429],
    'a request to Nest counts once': [200, 200, 429],
    'logins are counted': [401, 429],
    outage: [false, 'closed'],
    'a failure of the store': true,
    misuse: [true, false, false],
    'rules that are wrong': true,
    'no mark, no error': [false, false],
  }
  expect(JSON.parse(await node('mixed/app.mjs'))).toEqual([facts, facts])
})

const TYPESCRIPT = join(ROOT, 'node_modules/typescript/bin/tsc')
const TYPESCRIPT_5 = join(ROOT, 'scripts/consumers/node_modules/typescript/bin/tsc')
const EVERYTHING_STRICT = {
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  lib: ['es2022'],
  types: ['node'],
}

/** Each consumer: its name, its compiler, its package type, and what it adds to a minimal tsconfig. */
test.concurrent.each<[what: string, tsc: string, type: string, options: object]>([
  ['a project of modules', TYPESCRIPT, 'module', { module: 'nodenext' }],
  ['a project of modules, everything strict', TYPESCRIPT, 'module', { module: 'nodenext', ...EVERYTHING_STRICT }],
  ['a bundler', TYPESCRIPT, 'module', { module: 'esnext', moduleResolution: 'bundler' }],
  ['a CommonJS project', TYPESCRIPT, 'commonjs', { module: 'node16' }],
  ['a CommonJS project, TypeScript 5', TYPESCRIPT_5, 'commonjs', { module: 'node16' }],
  ['a project of modules, TypeScript 5', TYPESCRIPT_5, 'module', { module: 'node16' }],
  ['node10, TypeScript 5', TYPESCRIPT_5, 'commonjs', { module: 'commonjs', moduleResolution: 'node10' }],
])('TypeScript compiles, and node runs: %s', { timeout: SLOW_MS }, async (what, tsc, type, options) => {
  const folder = join(app, what.replaceAll(/\W+/g, '-'))
  await cp(join(app, 'typed'), folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type }))
  const least = {
    target: 'es2022',
    lib: ['es2022', 'dom'],
    types: [],
    strict: true,
    // The declarations of TypeScript itself take version 5 half a minute to check on a busy machine.
    skipLibCheck: tsc === TYPESCRIPT_5,
    outDir: 'out',
  }
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...least, ...options }, files: ['app.ts'] }),
  )
  await run(process.execPath, [tsc, '-p', folder], app)
  const made = { left: 95, allowed: true, code: 'SLUICE_BAD_COST', made: ['function', 'function'] }
  expect(JSON.parse(await node(join(folder, 'out/app.js')))).toEqual(made)
})

test.concurrent.each(['jest', 'ts-jest'])(
  '%s runs the tests of a CommonJS project',
  { timeout: SLOW_MS },
  async name => {
    const folder = join(app, name)
    await writeFile(join(folder, 'package.json'), '{}')
    // TypeScript 5 and the packages that need it are installed beside the consumers.
    await cp(join(ROOT, 'scripts/consumers/node_modules'), join(folder, 'node_modules'), { recursive: true })
    await run(process.execPath, [join(ROOT, 'node_modules/jest/bin/jest.js'), '--ci'], folder)
  },
)

test('Vite builds a page', async () => {
  const root = join(app, 'vite')
  await buildSite({
    root,
    configFile: false,
    logLevel: 'silent',
    build: { modulePreload: false, rollupOptions: { output: PLAIN_NAME } },
  })
  const printed = await node(await script("import './vite/dist/page.js'\nconsole.log(JSON.stringify(answers))"))
  expect(JSON.parse(printed)).toEqual([true, true, false])
})

const PLAIN_NAME = { entryFileNames: 'page.js' }

test('esbuild bundles a script, for import and for require', async () => {
  for (const format of ['esm', 'cjs'] as const) {
    const outfile = join(app, `bundle.${format === 'esm' ? 'mjs' : 'cjs'}`)
    await bundle({ entryPoints: [join(app, 'typed/app.ts')], bundle: true, format, outfile, platform: 'node' })
    expect(JSON.parse(await node(outfile))).toMatchObject({ left: 95, code: 'SLUICE_BAD_COST' })
  }
})

const workerd = RUNTIMES.find(({ name }) => name === 'workerd')!

test.skipIf(folderOf(workerd.pkg!) === undefined)('workerd serves a worker', async () => {
  const folder = join(app, 'workerd')
  const entry = { entryPoints: [join(folder, 'worker.js')], outfile: join(folder, 'bundle.js') }
  await bundle({ ...entry, bundle: true, format: 'esm', conditions: ['workerd', 'worker'] })
  const { port, stop } = await start(workerd, folder)
  const headers = { 'cf-connecting-ip': '203.0.113.9' }
  const statuses: number[] = []
  for (let n = 0; n < 3; n++) statuses.push((await fetch(`http://127.0.0.1:${port}/`, { headers })).status)
  await stop()
  expect(statuses).toEqual([200, 200, 429])
})

/** Only the registry here, and a cache of its own: as on a machine that has never seen Sluice. */
test('npx runs the command of the service in an empty folder', { timeout: SLOW_MS }, async () => {
  const tarballs = NAMES.map(name => {
    const manifest = join(app, 'node_modules', name, 'package.json')
    return [name, { tarball: packed[name].tarball, manifest }] as const
  })
  const registry = await serveRegistry(Object.fromEntries(tarballs))
  const folder = join(work, 'empty')
  await mkdir(folder)
  await writeFile(join(folder, 'rules.yaml'), 'limits:\n  per-ip: { key: ip, sliding-window: 60/1m }\n')
  const env = { ...process.env, npm_config_registry: registry.address, npm_config_cache: join(work, 'cache') }
  const npx = (...words: string[]) => run('npx', ['--yes', ...words], folder, env)
  expect(await npx('-p', 'sluice-server', 'sluice', 'check', 'rules.yaml')).toBe(
    'rules.yaml: 1 limit, ready to serve\n',
  )
  const { version } = await manifestOf('sluice-server')
  expect(await npx('sluice-server', '--version')).toBe(`sluice ${version}\n`)
  await registry.close()
})
