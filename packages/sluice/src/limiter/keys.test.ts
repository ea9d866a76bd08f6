import { expect, test } from 'vitest'
import { createLimiter, type Key, slidingLog } from '../index.ts'
import { fakeClock } from '../testing/index.ts'

const long = 'x'.repeat(65_536)

/** Any two of these would meet if parts ran together, if text were altered, or if keys were property names. */
const keys: Key[] = [
  ['a', 'bc'],
  ['ab', 'c'],
  ['abc'],
  ['a', 'b', 'c'],
  ['abc', ''],
  ['', 'abc'],
  ['', '', 'abc'],
  'abc',
  'a,bc',
  'a:bc',
  '1:a2:bc',
  '\u00001:a2:bc',
  '\u00003:abc',
  '\u00009:\u00001:a2:bc',
  ['\u00001:a2:bc'],
  ['1:a2:bc'],
  ['a2:bc'],
  ['1:a', '2:bc'],
  '',
  [''],
  ['', ''],
  '\u0000',
  '\u0000\u0000',
  ['\u0000'],
  '\u00001:\u0000',
  'a',
  'a\u0000',
  'A',
  ' a',
  'é',
  'e\u0301',
  '\ud83d\ude00',
  '\ud83d',
  '\ude00',
  '\ufffd',
  'constructor',
  '__proto__',
  'toString',
  'hasOwnProperty',
  ['__proto__'],
  'undefined',
  'null',
  long,
  `${long}x`,
  `${long.slice(1)}y`,
  [long],
  [long, long],
]

test('no two keys share state, however they are spelt', () => {
  const limiter = createLimiter<{ key: Key }>({
    clock: fakeClock(),
    limits: { each: { policy: slidingLog({ limit: 1, window: '1h' }), key: s => s.key } },
  })
  expect(keys.filter(key => !limiter.consume({ key }).allowed)).toEqual([])
  expect(keys.filter(key => limiter.consume({ key }).allowed)).toEqual([])
})

test('subjects of the short form do not either', () => {
  const limiter = createLimiter(slidingLog({ limit: 1, window: '1h' }), { clock: fakeClock() })
  const texts = keys.filter(key => typeof key === 'string').filter(key => key !== '')
  expect(texts.filter(key => !limiter.consume(key).allowed)).toEqual([])
  expect(texts.filter(key => limiter.consume(key).allowed)).toEqual([])
})

test('an equal key is the same key, whoever made it', () => {
  const limiter = createLimiter<{ key: Key }>({
    clock: fakeClock(),
    limits: { each: { policy: slidingLog({ limit: 1, window: '1h' }), key: s => s.key } },
  })
  limiter.consume({ key: ['a', 'bc'] })
  expect(limiter.consume({ key: ['a', 'bc'.slice()] }).allowed).toBe(false)
})

test('a reset of one key leaves its imitators alone', () => {
  const limiter = createLimiter<{ key: Key }>({
    clock: fakeClock(),
    limits: { each: { policy: slidingLog({ limit: 1, window: '1h' }), key: s => s.key } },
  })
  for (const key of keys) limiter.consume({ key })
  limiter.reset({ key: ['a', 'bc'] })
  expect(keys.filter(key => limiter.peek({ key }).allowed)).toEqual([['a', 'bc']])
})
