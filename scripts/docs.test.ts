import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { startRedis } from 'sluice-harness'
import { expect, test } from 'vitest'

const root = new URL('..', import.meta.url).pathname
/** Enough for a compiler and all frameworks on a busy machine. */
const SLOW_MS = 60_000

function pages(): string[] {
  const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  const npm = readdirSync(join(root, 'packages')).map(name => `packages/${name}/README.md`)
  return ['README.md', ...npm, ...docs.filter(path => path.endsWith('.md')).map(path => `docs/${path}`)]
}

function blocks(page: string): string[] {
  return [...readFileSync(join(root, page), 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) =>
    onAnyPort(code!),
  )
}

function onAnyPort(code: string): string {
  return code.replaceAll(/\.listen\(\d+\)/g, '.listen(0)')
}

/** Inside node_modules, where git does not look and `sluice` is found as a user's code would find it. */
function inFolder(run: (folder: string) => void): void {
  mkdirSync(join(root, 'node_modules/.docs'), { recursive: true })
  const folder = mkdtempSync(join(root, 'node_modules/.docs/run-'))
  try {
    run(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Adds the standard output to a compiler's error: its messages are there, and Node's error lacks them. */
function runBin(name: string, args: string[], env = process.env): void {
  const options = { cwd: root, env, encoding: 'utf8' } as const
  const { status, stdout, stderr } = spawnSync(join(root, 'node_modules/.bin', name), args, options)
  if (status !== 0) throw new Error(`${name} ended with ${status}\n${stdout}${stderr}`)
}

test('every TypeScript example in README and docs type-checks and runs', { timeout: SLOW_MS }, async () => {
  const redis = await startRedis()
  inFolder(folder => {
    const files = pages().flatMap(page =>
      blocks(page).map((code, n) => {
        const file = `${page.replaceAll('/', '-')}-${n}.mts`
        writeFileSync(join(folder, file), `${code}\nexport {}\n`)
        return file
      }),
    )
    expect(files.length).toBeGreaterThan(3)
    const compilerOptions = {
      ...{ noEmit: true, allowImportingTsExtensions: true, noUnusedLocals: false, types: ['node'] },
      // The decorators of Nest are the older kind.
      experimentalDecorators: true,
    }
    const tsconfig = { extends: '../../../tsconfig.base.json', compilerOptions, include: ['*.mts'] }
    const settings = join(folder, 'tsconfig.json')
    writeFileSync(settings, JSON.stringify(tsconfig))
    runBin('tsc', ['-p', folder])
    // Clients of servers stay connected, as a service's would.
    const all = [...files.map(file => `await import('./${file}')`), 'process.exit()']
    writeFileSync(join(folder, 'all.mts'), all.join('\n'))
    const env = { ...process.env, REDIS_URL: `redis://${redis.host}:${redis.port}` }
    runBin('tsx', ['--conditions=@sluice/source', '--tsconfig', settings, join(folder, 'all.mts')], env)
  })
  await redis.stop()
})

/** As GitHub names a heading. */
function anchors(path: string): string[] {
  const headings = readFileSync(path, 'utf8').matchAll(/^#{1,6} (.*)$/gm)
  return [...headings].map(([, text]) =>
    text!
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
}

test.each(pages())('every link of %s leads somewhere', page => {
  const prose = readFileSync(join(root, page), 'utf8').replace(/^```.*?^```$/gms, '')
  const broken = [...prose.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].filter(([, path, anchor]) => {
    const target = path === '' ? join(root, page) : join(root, dirname(page), path!)
    return !existsSync(target) || (anchor !== undefined && !anchors(target).includes(anchor))
  })
  expect(broken.map(([link]) => link)).toEqual([])
})
