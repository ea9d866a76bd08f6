import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'

const exec = promisify(execFile)
const root = fileURLToPath(new URL('../../../', import.meta.url))
const tsc = join(root, 'node_modules/.bin/tsc')

/** Runs a command; where it fails, says what it printed. */
async function run(command: string, args: string[], cwd: string): Promise<{ stdout: string; stderr: string }> {
  return exec(command, args, { cwd }).catch(({ stdout, stderr }: { stdout: string; stderr: string }) => {
    throw new Error(`${command} ${args.join(' ')}\n${stdout}${stderr}`)
  })
}

let work: string
let consumer: string
let packed: string[]

/** Builds and packs the library beside the repository, and installs the tarball as npm would, without a network. */
beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), 'sluice-package-'))
  const library = join(work, 'library')
  consumer = join(work, 'consumer')
  const installed = join(consumer, 'node_modules/sluice')
  await Promise.all([mkdir(library), mkdir(installed, { recursive: true })])
  await copyFile(join(root, 'packages/sluice/package.json'), join(library, 'package.json'))
  const dist = join(library, 'dist')
  const build = ['-p', 'packages/sluice', '--outDir', dist, '--tsBuildInfoFile', join(dist, '.tsbuildinfo')]
  await run(tsc, build, root)
  const { stdout } = await run('npm', ['pack', '--json', '--offline', '--pack-destination', work], library)
  const [{ filename, files }] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }]
  packed = files.map(file => file.path)
  await run('tar', ['-xzf', join(work, filename), '-C', installed, '--strip-components=1'], work)
  await writeFile(join(consumer, 'package.json'), JSON.stringify({ type: 'module' }))
}, 30_000)

afterAll(() => rm(work, { recursive: true, force: true }))

test('the tarball holds the built library and nothing else', () => {
  expect(packed).toEqual(expect.arrayContaining(['package.json', 'dist/index.js', 'dist/index.d.ts']))
  const stray = packed.filter(path => !/^(package\.json|README\.md|LICENSE|dist\/.*(\.js|\.d\.ts))$/.test(path))
  expect(stray).toEqual([])
  expect(packed.filter(path => /\.test\.|fixtures|tsbuildinfo/.test(path))).toEqual([])
})

test('it depends on nothing', async () => {
  const manifest = JSON.parse(await readFile(join(consumer, 'node_modules/sluice/package.json'), 'utf8'))
  const { dependencies, optionalDependencies, bundledDependencies, scripts } = manifest
  expect({ dependencies, optionalDependencies, bundledDependencies, scripts }).toEqual({})
})

test('every entry point it names is there', async () => {
  const manifest = JSON.parse(await readFile(join(consumer, 'node_modules/sluice/package.json'), 'utf8'))
  const entries = Object.values<string | Record<string, string>>(manifest.exports)
  const targets = entries.flatMap(entry => (typeof entry === 'string' ? [entry] : [entry.types!, entry.default!]))
  expect(targets.map(path => path.slice(2)).filter(path => !packed.includes(path))).toEqual([])
})

test('no file imports what is not packed', async () => {
  const code = packed.filter(path => /\.(js|d\.ts)$/.test(path))
  expect(code.length).toBeGreaterThan(20)
  for (const path of code) {
    const source = await readFile(join(consumer, 'node_modules/sluice', path), 'utf8')
    for (const [, from] of source.matchAll(/^(?:import|export) [\w*{},\s]*? from '([^']+)'/gm)) {
      // Whoever imports the adapter of Nest has Nest.
      if (from === '@nestjs/common' && /^dist\/http\/(adapters\/)?nest/.test(path)) continue
      const target = posix.join(posix.dirname(path), from!)
      // Declarations keep the .ts of the sources, and TypeScript reads it as .d.ts.
      const file = path.endsWith('.js') ? target : target.replace(/\.[jt]s$/, '.d.ts')
      expect(packed, `${path} imports ${from}`).toContain(file)
    }
  }
})

test('plain node runs it', async () => {
  await writeFile(
    join(consumer, 'app.js'),
    `import { createLimiter, SluiceError, tokenBucket } from 'sluice'
     import { fakeClock } from 'sluice/testing'
     const clock = fakeClock()
     const limiter = createLimiter(tokenBucket({ capacity: 1, refill: '1/s' }), { clock })
     const allowed = [limiter.consume('a').allowed, limiter.consume('a').allowed]
     clock.advance(1000)
     allowed.push(limiter.consume('a').allowed)
     let code
     try { limiter.consume('a', { cost: 0.9 }) } catch (error) { code = error instanceof SluiceError && error.code }
     const system = createLimiter('5/m').consume('b')
     console.log(JSON.stringify({ allowed, code, remaining: system.remaining, at: Math.abs(system.at - Date.now()) < 5000 }))`,
  )
  const { stdout, stderr } = await run(process.execPath, ['app.js'], consumer)
  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toEqual({
    allowed: [true, false, true],
    code: 'SLUICE_BAD_COST',
    remaining: 4,
    at: true,
  })
})

/** What a consumer's tsconfig says besides the least there is. */
test.concurrent.each<[what: string, options: object]>([
  ['a bundler for browsers', { module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom'] }],
  [
    "Node's types, everything strict",
    {
      lib: ['es2022'],
      types: ['node'],
      typeRoots: [join(root, 'node_modules/@types')],
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      verbatimModuleSyntax: true,
    },
  ],
])('TypeScript checks a consumer with %s', async (_, options) => {
  const dir = await mkdtemp(join(consumer, 'typed-'))
  await writeFile(
    join(dir, 'app.ts'),
    `import { createLimiter, limits, memoryStore, slidingWindow, type Decision, type Limiter } from 'sluice'
     import { fakeClock } from 'sluice/testing'
     const short: Limiter = createLimiter('100/m', { clock: fakeClock() })
     const decision: Decision = short.consume('user:42', { cost: 5 })
     const left: number = decision.remaining
     interface Caller { ip: string }
     const api = createLimiter({
       store: memoryStore(),
       limits: limits<Caller>({ ip: { policy: slidingWindow({ limit: 100, window: '1m' }), key: c => c.ip } }),
     })
     export const allowed: boolean = api.consume({ ip: String(left) }).allowed
     // @ts-expect-error: no such option
     api.consume({ ip: '' }, { costs: 1 })
     // @ts-expect-error: no such property, so a decision is not any
     decision.nothing
     // @ts-expect-error: a promise is not there with the in-process store
     short.consume('a').then`,
  )
  const compilerOptions = { module: 'nodenext', strict: true, noEmit: true, types: [], skipLibCheck: false, ...options }
  await writeFile(join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['app.ts'] }))
  await run(tsc, ['-p', dir], consumer)
})
