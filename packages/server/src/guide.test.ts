import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { helpText } from './command/help.ts'
import { rulesAt } from './command/rules-at.ts'
import { served } from './fixtures/http/served.ts'
import { scrape } from './fixtures/prometheus.ts'
import { rulesFile } from './fixtures/rules-file.ts'
import { API } from './http/api.ts'

const read = (page: string) => readFileSync(fileURLToPath(new URL(`../../../docs/${page}`, import.meta.url)), 'utf8')
const guide = read('guide/service.md')
const reference = read('reference/rules.md')
const blocks = (page: string, language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, text]) => text!)

/** `curl … # status`, as the guide writes it. */
interface Curl {
  readonly path: string
  readonly body: string | undefined
  readonly headers: Record<string, string>
  readonly status: number
}

function curls(): Curl[] {
  const lines = blocks(guide, 'sh').flatMap(block => block.split('\n').filter(line => line.startsWith('curl ')))
  return lines.map(line => {
    const [, words, status] = /^curl (.*?) +# (\d{3})$/.exec(line) ?? []
    if (words === undefined) throw new Error(`expected curl … # status, got ${line}`)
    const [, path] = /'?localhost:8080(\/[^' ]*)'?$/.exec(words)!
    const headers = words.includes('-H "$AUTH" ') ? { authorization: 'Bearer a-token' } : {}
    return { path: path!, headers, body: /-d '([^']*)'/.exec(words)?.[1], status: Number(status) }
  })
}

test.each([...blocks(guide, 'yaml'), ...blocks(reference, 'yaml')])('rules in the docs are rules', text => {
  expect(() => rulesAt(rulesFile(text))).not.toThrow()
})

test('every call in the guide is answered as the guide says', async () => {
  const { get, post } = await served(blocks(guide, 'yaml')[0]!, { 'admin-token': 'a-token' })
  const called: string[] = []
  let id = ''
  for (const { path, body, headers, status } of curls()) {
    const answer = body === undefined ? await get(path, headers) : await post(path, body.replace('…', id), headers)
    expect([path, body, answer.status]).toEqual([path, body, status])
    id = answer.json.id ?? id
    called.push(path.split('?')[0]!)
  }
  expect(API.map(({ path }) => path).filter(path => !called.includes(path))).toEqual(['/json'])
})

test('the guide lists every call, and no other', () => {
  const listed = [...guide.matchAll(/^\| `(GET|POST) (\S+)` \|/gm)].map(([, method, path]) => `${method} ${path}`)
  expect(listed.sort()).toEqual(API.map(({ method, path }) => `${method} ${path}`).sort())
})

test('the guide lists every metric, and no other', async () => {
  const { get } = await served(blocks(guide, 'yaml')[0]!)
  const listed = [...guide.matchAll(/^\| `((?:ratelimit|sluice)_\w+)` \|/gm)].map(([, name]) => name!)
  expect(listed.sort()).toEqual([...scrape((await get('/metrics')).body).types.keys()].sort())
})

describe('docs/reference/rules.md', () => {
  const schema = JSON.parse(readFileSync(fileURLToPath(new URL('../rules.schema.json', import.meta.url)), 'utf8'))
  const section = (title: string) => reference.split(/^## /m).find(text => text.startsWith(title))!
  const members = (title: string) =>
    [...section(title).matchAll(/^\| (`.+?`) \|/gm)].flatMap(([, names]) => names!.match(/[\w-]+/g)!)

  test.each<[title: string, known: string[]]>([
    ['The file', Object.keys(schema.properties)],
    [
      'A limit',
      Object.keys(schema.definitions.limit.properties).filter(name => !members('How it counts').includes(name)),
    ],
    ['How it counts', [...Object.keys(schema.definitions.algorithm.properties), 'plans']],
  ])('%s has all members of the schema, and no other', (title, known) => {
    expect(members(title).sort()).toEqual(known.sort())
  })

  test('names every warning, and no other', () => {
    const source = readFileSync(fileURLToPath(new URL('./rules/warnings.ts', import.meta.url)), 'utf8')
    const codes = /readonly code:([^/]*)/.exec(source)![1]!.match(/[\w-]+/g)!
    expect(members('Warnings')).toEqual(codes)
    for (const code of codes) expect(helpText('check')).toContain(code)
  })
})
