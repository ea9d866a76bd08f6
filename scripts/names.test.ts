import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { isNode, type Node, parse } from './syntax.ts'

const root = new URL('..', import.meta.url).pathname
const SKIPPED = /(^|\/)(node_modules|dist|studio\/assets)\//
const TYPES = ['ClassDeclaration', 'TSInterfaceDeclaration', 'TSTypeAliasDeclaration', 'TSEnumDeclaration']

function filesIn(folders: readonly string[], pattern: RegExp): string[] {
  return folders
    .flatMap(folder =>
      readdirSync(root + folder, { recursive: true, encoding: 'utf8' }).map(file => `${folder}/${file}`),
    )
    .filter(path => pattern.test(path) && !SKIPPED.test(path))
}

const read = (path: string) => readFileSync(root + path, 'utf8')

/** Top-level classes, interfaces and types, exported or not. */
function typesIn(program: Node): string[] {
  return (program.body as readonly Node[])
    .map(node => (isNode(node.declaration) ? node.declaration : node))
    .filter(({ type }) => TYPES.includes(type))
    .map(({ id }) => (isNode(id) ? (id.name as string) : ''))
}

/** Every name that several of the files declare, and which. */
function declaredTwice(files: ReadonlyMap<string, string>): string[] {
  const declaredIn = new Map<string, string[]>()
  for (const [path, source] of files) {
    for (const name of new Set(typesIn(parse(path, source)))) {
      declaredIn.set(name, [...(declaredIn.get(name) ?? []), path])
    }
  }
  return [...declaredIn].filter(([, paths]) => paths.length > 1).map(([name, paths]) => `${name}: ${paths.join(', ')}`)
}

test('no name of a class, interface or type is declared twice in the library and the service', () => {
  const paths = filesIn(['packages/sluice/src', 'packages/server/src'], /(?<!\.test)\.ts$/)
  const files = new Map(paths.filter(path => !path.includes('/fixtures/')).map(path => [path, read(path)]))
  expect(files.size).toBeGreaterThan(200)
  expect(declaredTwice(files)).toEqual([])
})

test('a name that two files declare is reported, in whatever way they declare it', () => {
  const files = {
    'a.ts': 'export class Queue {}\nclass Inner {}\nfunction f() { type Local = 1 }',
    'b.ts': "interface Queue {}\nimport type { Other } from './c.ts'\ntype Local = 2",
    'c.ts': 'export abstract class Other {}\nexport type Inner<T> = T',
  }
  expect(declaredTwice(new Map(Object.entries(files)))).toEqual(['Queue: a.ts, b.ts', 'Inner: a.ts, c.ts'])
})

/** Words the project has given up, with what it says instead. */
const FORMER: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\b(class|interface|type) (House|Room|Shared|MemoryHouse)\b/, 'Sweeper, KeyBudget, MemoryContext'],
  [/\b(class|interface|type) (Telling|Following|Answering)\b/, 'Reporter, AfterResponse, ResponseFields'],
  [
    /\b(class|interface|type) (Facts|Hearing|Deciding|Promised)\b/,
    'RequestFacts, CachedQuestion, TimedDecision, TimedCall',
  ],
  [/\b(class|interface|type) (Lines|Alarm|Appointment)\b/, 'WaitQueues, TimerQueue, Timer'],
  [/\b(class|interface|type) (Departures|Outbox|Spaced|Stem)\b/, 'FlushScheduler, BatchQueue, PacedSender, KeyPrefix'],
  [
    /\b(class|interface|type) (Wave|Hit|Seat|Passage|Desk|Patience)\b/,
    'HitBatch, DescriptorHit, CounterRef, RequestHandler',
  ],
  [/\b(afterIfStillHere|leaveOutTwice|standIn|longWay)\b/, 'afterUnref, dropSharedBuckets, applyReplacements'],
  [/whole again/, 'full again, resets in'],
  [/number from [01] on\b|of our own\b/, 'a whole number, 0 or more; of Sluice'],
]

test('no word that was given up is left in code, texts or docs', () => {
  const folders = ['packages', 'apps', 'bench', 'docs', 'examples', 'harness', 'scripts']
  const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md']
  const found = [...filesIn(folders, /\.(tsx?|mjs|mts|lua|md|txt|ya?ml)$/), ...pages].flatMap(path => {
    if (path === 'scripts/names.test.ts') return []
    const text = read(path)
    return FORMER.flatMap(([pattern, instead]) => {
      const word = pattern.exec(text)?.[0]
      return word === undefined ? [] : [`${path}: ${word} (say ${instead})`]
    })
  })
  expect(found).toEqual([])
})
