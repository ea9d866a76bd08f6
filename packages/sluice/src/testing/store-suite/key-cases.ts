import { createLimiter } from '../../limiter/create.ts'
import type { Key } from '../../limiter/key.ts'
import { type Case, same, show } from './case.ts'
import { ofEveryKind } from './policies.ts'
import { StoredLimit } from './stored-limit.ts'
import { type Bench, TODAY } from './world.ts'

export function keyCases(bench: Bench): Case[] {
  return [
    { name: 'keys are data: whatever they look like, each is counted by itself (law 11)', run: () => anyKey(bench) },
    { name: 'parts of a key do not run together, nor into a plain key (law 11)', run: () => anyParts(bench) },
    { name: 'names of limiters and limits do not run together (law 11)', run: () => anyNames(bench) },
    { name: 'the same path is the same state, another path is another', run: () => paths(bench) },
  ]
}

/** Keys that break code which confuses them with properties, patterns, separators, encodings or terminators. */
const KEYS: readonly string[] = [
  ...[
    '',
    ' ',
    '  ',
    '\0',
    '\0\0',
    'a\0',
    'a\0b',
    '\n',
    '\r\n',
    '*',
    '?',
    '[a]',
    '{a}',
    '{a}:b',
    '}{',
    '%00',
    '%',
    '\\',
  ],
  ...['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', 'length', 'null', 'undefined', 'NaN'],
  ...['0', '-0', '00', '1e3', 'true', 'a', 'A', 'ä', 'a\u0308', 'ß', 'ss', 'ı', 'İ', 'é', 'e\u0301', 'ﬁ', 'fi'],
  ...[
    '1:a',
    '\u00001:a',
    '\u00001:a1:b',
    '1:a1:b',
    'a:b',
    'a:',
    ':a',
    'a/b',
    'a//b',
    'a|b',
    'a,b',
    'a b',
    '::ffff:1.2.3.4',
  ],
  ...[
    '🙂',
    '🙃',
    '👩‍👩‍👧',
    '\ud83d',
    '\ude42',
    '\ufffd',
    '\ud800',
    '\udfff',
    '\uffff',
    'Ā',
    'ā',
    '\u0001\u0002',
    '\u0201',
    'Ā\0',
    '\0\u0001',
  ],
  ...['x'.repeat(65_536), 'x'.repeat(65_535), `${'x'.repeat(65_535)}y`, '🙂'.repeat(16_384), 'long'.repeat(64), '\xff'],
]

/** The n-th key consumes n mod 7, so a count is wrong if two keys collide or a store alters one. */
async function anyKey(bench: Bench): Promise<void> {
  for (const policy of ofEveryKind(100, 60_000)) {
    await bench.inWorld(async world => {
      world.goTo(TODAY)
      const stored = new StoredLimit(world, policy)
      for (const [n, key] of KEYS.entries()) if (n % 7 > 0) await stored.consume(key, n % 7)
      for (const [n, key] of KEYS.entries()) {
        const where = () => `policy ${show(policy)}, key ${show(key.slice(0, 30))} of length ${key.length}`
        same((await stored.peek(key, 1)).remaining, 100 - (n % 7), where)
      }
    })
  }
}

/** Keys whose parts are separated by commas here, then keys without parts. */
const PARTS: readonly Key[] = [
  ...['a,bc', 'ab,c', 'abc', 'abc,', ',abc', 'a,b,c', '', ',', '1:a', 'a', 'a,b', 'a1:b'].map(word => word.split(',')),
  ...['\u00001:a', '\0', '__proto__,a', '__proto__', '🙂,a', '🙂a', '\ud83d,\ude42', '🙂'].map(word => word.split(',')),
  ...['abc', '', '\u00001:a', 'a', '1:a', '\u00001:a1:b', '\0', '\u00000:', '__proto__', '🙂a', '\u00003:abc'],
]

async function anyParts(bench: Bench): Promise<void> {
  await bench.inWorld(async ({ store, clock }) => {
    clock.set(TODAY / 1000)
    const limits = { all: { policy: '100/m' as const, key: (subject: { key: Key }) => subject.key } }
    const limiter = createLimiter({ store, limits })
    for (const [n, key] of PARTS.entries()) await limiter.consume({ key }, { cost: n })
    for (const [n, key] of PARTS.entries()) {
      same((await limiter.peek({ key })).remaining, 100 - n, () => `key ${show(key)}`)
    }
  })
}

/** Prefix, limiter and limit, separated by commas. */
const NAMES = [
  ...['a,b,c', 'a,bc,', 'ab,,c', ',ab,c', 'a:b,,c', 'a,b:c,', 'A,b,c', '1:a,b,c', 'a1:b,c,', 'a,b1:c,', '{a},b,c'],
  ...['__proto__,a,b', 'a,__proto__,b', 'a,b,__proto__', 'a,b,constructor', '🙂,,\0', ',,', '\0,,', ',\0,', ',,\0'],
].map(names => names.split(',') as [prefix: string, name: string, limit: string])

async function anyNames(bench: Bench): Promise<void> {
  await bench.inWorld(async ({ store, clock }) => {
    clock.set(TODAY / 1000)
    const limiters = NAMES.map(([prefix, name, limit]) => {
      const limits = { [limit]: { policy: '100/m' as const, key: (subject: { id: string }) => subject.id } }
      return createLimiter({ store, prefix, name, limits })
    })
    for (const [n, limiter] of limiters.entries()) await limiter.consume({ id: 'x' }, { cost: n })
    for (const [n, limiter] of limiters.entries()) {
      same((await limiter.peek({ id: 'x' })).remaining, 100 - n, () => `prefix, limiter, limit ${show(NAMES[n])}`)
    }
  })
}

async function paths(bench: Bench): Promise<void> {
  for (const policy of ofEveryKind(10, 60_000)) {
    await bench.inWorld(async world => {
      world.goTo(TODAY)
      await new StoredLimit(world, policy, { path: 'one' }).consume('key', 4)
      const remaining = async (path: string) => (await new StoredLimit(world, policy, { path }).peek('key')).remaining
      same([await remaining('one'), await remaining('other')], [6, 10], () => `policy ${show(policy)}`)
    })
  }
}
