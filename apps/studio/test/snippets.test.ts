import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Answers, adviceFor, QUESTIONS } from '../src/choose/advice.ts'
import { type Snippet, snippetsFor } from '../src/choose/code.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const run = promisify(execFile)

/** All that the chooser can say, each text once. */
const texts = new Map<string, Snippet>()
beforeAll(() => {
  let all: Partial<Answers>[] = [{}]
  for (const { id, options } of QUESTIONS) {
    all = all.flatMap(answers => options.map(({ value }) => ({ ...answers, [id]: value })))
  }
  for (const answers of all as Answers[]) {
    for (const snippet of snippetsFor(adviceFor(answers), answers)) texts.set(snippet.text, snippet)
  }
})

/** What stands around a snippet in an application. */
const AROUND: Readonly<Record<string, string>> = {
  express: "declare const app: import('express').Express",
  fastify: "declare const app: import('fastify').FastifyInstance",
  hono: "declare const app: import('hono').Hono",
  koa: "declare const app: import('koa')",
}

function moduleOf({ id, text }: Snippet): string {
  const lines = text.split('\n')
  const imports = lines.filter(line => line.startsWith('import '))
  const body = lines.filter(line => !line.startsWith('import ')).join('\n')
  return `${imports.join('\n')}
declare const client: import('ioredis').Redis
declare const handedOut: Set<string>
declare const id: string
declare function tooMany(ms: number): Response
declare function handler(request: Request): Response
${AROUND[id] ?? ''}
${id === 'library' ? `export async function handle() {\n${body}\nreturn undefined\n}` : body}
`
}

test('every code that the chooser gives compiles', async () => {
  const folder = await mkdtemp(join(ROOT, 'node_modules/.snippets-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const code = [...texts.values()].filter(({ id }) => id !== 'yaml' && id !== 'envoy')
  await Promise.all(code.map((snippet, n) => writeFile(join(folder, `${snippet.id}-${n}.mts`), moduleOf(snippet))))
  const compilerOptions = {
    ...{ noEmit: true, types: ['node'], experimentalDecorators: true },
    ...{ noUnusedLocals: false, rewriteRelativeImportExtensions: false, allowImportingTsExtensions: true },
  }
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: join(ROOT, 'tsconfig.base.json'), compilerOptions, include: ['*.mts'], exclude: [] }),
  )
  const { stdout } = await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder]).catch(error => error)
  expect(stdout).toBe('')
  expect(code.length).toBeGreaterThan(100)
})

test('every rules file that the chooser gives can be served, its own form and that of Envoy', async () => {
  const folder = await mkdtemp(join(ROOT, 'node_modules/.snippets-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  // One file each is one process each: limits and domains of many answers stand in one file, under names of their own.
  const own = [...texts.values()]
    .filter(({ id }) => id === 'yaml')
    .map(({ text }, n) => text.slice(text.indexOf('  per-')).replace(/^ {2}(per-\w+)/, `  $1-${n}`))
  const files = [...texts.values()].filter(({ id, text }) => id === 'envoy' && !text.startsWith('#'))
  await writeFile(join(folder, 'rules.yaml'), `limits:\n${own.join('\n')}\n`)
  const envoy = await mkdtemp(join(folder, 'envoy-'))
  await Promise.all(
    files.map(({ text }, n) => writeFile(join(envoy, `${n}.yaml`), text.replace('domain: edge', `domain: edge-${n}`))),
  )
  const sluice = [...['--import', 'tsx', '--conditions=@sluice/source'], join(ROOT, 'packages/server/src/main.ts')]
  const env = { ...process.env, TSX_TSCONFIG_PATH: join(ROOT, 'tsconfig.base.json') }
  for (const [path, count] of [
    [join(folder, 'rules.yaml'), own.length],
    [envoy, files.length],
  ] as const) {
    const { stdout, code } = await run(process.execPath, [...sluice, 'check', path], { cwd: ROOT, env }).catch(e => e)
    expect(code ?? 0, stdout).toBe(0)
    expect(stdout).toContain(`${count} limits`)
  }
})
