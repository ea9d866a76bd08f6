import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const root = new URL('..', import.meta.url).pathname
const SKIPPED = /(^|\/)(node_modules|dist|studio\/assets)\//

function filesIn(folders: readonly string[], pattern: RegExp): string[] {
  return folders
    .flatMap(folder =>
      readdirSync(root + folder, { recursive: true, encoding: 'utf8' }).map(file => `${folder}/${file}`),
    )
    .filter(path => pattern.test(path) && !SKIPPED.test(path))
}

const read = (path: string) => readFileSync(root + path, 'utf8')

/** Words that the project no longer uses, with their replacements. */
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
    if (path === 'scripts/former-words.test.ts') return []
    const text = read(path)
    return FORMER.flatMap(([pattern, instead]) => {
      const word = pattern.exec(text)?.[0]
      return word === undefined ? [] : [`${path}: ${word} (say ${instead})`]
    })
  })
  expect(found).toEqual([])
})
