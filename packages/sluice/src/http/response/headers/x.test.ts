import { expect, test } from 'vitest'
import { AT, fieldsOf, refused, shown } from '../../../fixtures/headers/read-back.ts'
import { concurrency, fixedWindow, type Policy, slidingWindow, tokenBucket } from '../../../policy.ts'
import { describe, type Shown } from './description.ts'
import { writeX, writeXBucket } from './x.ts'

const window = fixedWindow({ limit: 100, window: '1m' })
const sliding = slidingWindow({ limit: 100, window: '1m' })
const bucket = tokenBucket({ capacity: 100, refill: '10/s' })
const slots = concurrency({ limit: 10, ttl: '30s' })

/** `times` are the reset of x, then the reset and the wait of x-bucket; none where no time would be true. */
type Row = readonly [what: string, Policy, Shown, times: string]
const rows: readonly Row[] = [
  ['the end of a window', window, shown({ resetAfterMs: 59_876.543 }), '1790013660 1790013660 59.877'],
  ['a tick past a second', window, shown({ resetAfterMs: 59_876.544 }), '1790013661 1790013660.001 59.877'],
  ['a window nobody used', window, shown(), '1790013601 1790013600.124 0'],
  ['when a bucket has one more', bucket, shown({ remaining: 8, resetAfterMs: 9130 }), '1790013601 1790013600.154 0.03'],
  ['a bucket that is full', bucket, shown(), '1790013601 1790013600.124 0'],
  ['a spent sliding window', sliding, shown({ remaining: 0, retryAfterMs: 876.543 }), '1790013601 1790013601 0.877'],
  ['when it passes', bucket, refused(250, { resetAfterMs: 10_000 }), '1790013601 1790013600.374 0.25'],
  ['a block past the reset', bucket, refused(9e5, { resetAfterMs: 10_000 }), '1790014501 1790014500.124 900'],
  ['a refusal to a whole second', window, refused(59_876.543), '1790013660 1790013660 59.877'],
  ['a cost too high', window, refused(Infinity, { resetAfterMs: 500 }), ''],
  ['slots', slots, shown({ resetAfterMs: 30_000 }), ''],
  ['refused slots', slots, refused(876.543), '1790013601 1790013601 0.877'],
  ['a limit of none', fixedWindow({ limit: 0, window: '1m' }), shown({ limit: 0 }), ''],
]

test.each(rows)('%s', (_, policy, state, times) => {
  const counts = { 'X-RateLimit-Limit': `${state.limit}`, 'X-RateLimit-Remaining': `${state.remaining}` }
  const [reset, exact, after] = times.split(' ')
  const [x, discord]: [string[], string[]] = [[], []]
  writeX(describe('a', policy), state, AT, x)
  expect(fieldsOf(x)).toEqual(times === '' ? counts : { ...counts, 'X-RateLimit-Reset': reset })
  writeXBucket(describe('a', policy), state, AT, discord)
  const both = { 'X-RateLimit-Reset': exact, 'X-RateLimit-Reset-After': after }
  expect(fieldsOf(discord)).toEqual(times === '' ? counts : { ...counts, ...both })
})

test.each([
  ['9f86d081884c7d65', '9f86d081884c7d65'],
  ['a\r\nb é', 'a%0D%0Ab %C3%A9'],
])('the bucket %j is sent as %j, and by x-bucket only', (id, sent) => {
  const [x, discord]: [string[], string[]] = [[], []]
  const description = describe('a', window, { bucket: id })
  writeX(description, shown(), AT, x)
  writeXBucket(description, shown(), AT, discord)
  expect(fieldsOf(x)['X-RateLimit-Bucket']).toBeUndefined()
  expect(fieldsOf(discord)['X-RateLimit-Bucket']).toBe(sent)
})
