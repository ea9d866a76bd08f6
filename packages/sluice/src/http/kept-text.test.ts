import fc from 'fast-check'
import { expect, test } from 'vitest'
import { KeptText, NO_TIME } from './kept-text.ts'

interface Item {
  readonly count: number
  readonly seconds: number | undefined
}

const HEADS = ['"a";r=', '"b";r=', '"c";r=']

function plainly(items: readonly Item[]): string {
  return items
    .map(({ count, seconds }, i) => `${HEADS[i]}${count}${seconds === undefined ? '' : `;t=${seconds}`}`)
    .join(', ')
}

function written(text: KeptText, items: readonly Item[]): string {
  return text.whole(
    items.reduce((said, { count, seconds }, i) => text.withItem(said, i, count, seconds ?? NO_TIME), ''),
  )
}

test.each<[string, Item[][]]>([
  [
    'counts down past a thousand',
    [[{ count: 1001, seconds: 5 }], [{ count: 1000, seconds: 5 }], [{ count: 999, seconds: 5 }]],
  ],
  [
    'zeros inside',
    [[{ count: 1_000_007, seconds: 5 }], [{ count: 1_000_000, seconds: 5 }], [{ count: 7, seconds: 5 }]],
  ],
  ['nothing left', [[{ count: 0, seconds: 1 }], [{ count: 0, seconds: undefined }], [{ count: 0, seconds: 0 }]]],
  ['the largest count', [[{ count: 999_999_999_999_999, seconds: 5 }], [{ count: 999_999_999_998_999, seconds: 5 }]]],
  [
    'a second later',
    [
      [
        { count: 8, seconds: 5 },
        { count: 9, seconds: 60 },
      ],
      [
        { count: 8, seconds: 4 },
        { count: 9, seconds: 60 },
      ],
    ],
  ],
  [
    'the last of two a second later',
    [
      [
        { count: 8, seconds: 5 },
        { count: 9, seconds: 60 },
      ],
      [
        { count: 8, seconds: 5 },
        { count: 9, seconds: 59 },
      ],
    ],
  ],
])('%s', (_, rows) => {
  const text = new KeptText(HEADS.slice(0, rows[0]!.length))
  expect(rows.map(items => written(text, items))).toEqual(rows.map(plainly))
})

/** Near a thousand, where what is kept ends, and anywhere. */
const count = fc.oneof(
  fc
    .integer({ min: 0, max: 3 })
    .chain(thousands => fc.integer({ min: 0, max: 3 }).map(more => thousands * 1000 + more)),
  fc.integer({ min: 997, max: 1003 }),
  fc.nat({ max: 999_999_999_999_999 }),
)
const seconds = fc.option(fc.nat({ max: 3 }), { nil: undefined })

test('whatever was said before, the numbers of now are said', () => {
  const rows = fc
    .integer({ min: 1, max: HEADS.length })
    .chain(items => fc.array(fc.array(fc.record({ count, seconds }), { minLength: items, maxLength: items })))
  fc.assert(
    fc.property(rows, rows => {
      const text = new KeptText(HEADS.slice(0, rows[0]?.length ?? 1))
      for (const items of rows) expect(written(text, items)).toBe(plainly(items))
    }),
    { numRuns: 500 },
  )
})
