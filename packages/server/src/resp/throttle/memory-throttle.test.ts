import fc from 'fast-check'
import { fakeClock } from 'sluice/testing'
import { expect, test } from 'vitest'
import { CellOracle } from '../../fixtures/resp/cell-oracle.ts'
import { deskOver } from '../../fixtures/resp/context.ts'
import { memoryThrottle } from './memory-throttle.ts'

/** When, what is asked, and the five integers: the table of the specification first. */
type Row = [atMs: number, call: string, expected: string]

const rows: Row[] = [
  [0, 'user123 15 30 60', '0 16 15 -1 2'],
  ...Array.from({ length: 14 }, (_, i): Row => [0, 'user123 15 30 60', `0 16 ${14 - i} -1 ${4 + 2 * i}`]),
  [0, 'user123 15 30 60', '0 16 0 -1 32'],
  [0, 'user123 15 30 60', '1 16 0 2 32'],
  [0, 'foo 4 1 1 6', '1 5 5 -1 0'],
  [0, 'k 0 1 2', '0 1 0 -1 2'],
  [0, 'k 0 1 2', '1 1 0 2 2'],
  [2000, 'k 0 1 2', '0 1 0 -1 2'],
  // Five at once, one a second.
  ...[4, 3, 2, 1, 0].map((left): Row => [10_000, 'bar 4 1 1', `0 5 ${left} -1 ${5 - left}`]),
  [10_000, 'bar 4 1 1', '1 5 0 1 5'],
  [13_000, 'bar 4 1 1', '0 5 2 -1 3'],
  [13_100, 'bar 4 1 1', '0 5 1 -1 4'],
  [14_000, 'bar 4 1 1', '0 5 1 -1 4'],
  [18_000, 'bar 4 1 1', '0 5 4 -1 1'],
  [19_500, 'bar 4 1 1', '0 5 4 -1 1'],
  [19_500, 'bar 4 1 1 0', '0 5 4 -1 1'],
  [19_500, 'bar 4 1 1 2', '0 5 2 -1 3'],
  [19_500, 'bar 4 1 1 5', '1 5 2 3 3'],
  // Giving back: never more than there is.
  [19_500, 'bar 4 1 1 -1', '0 5 3 -1 2'],
  [19_500, 'bar 4 1 1 -100', '0 5 5 -1 0'],
  [19_500, 'bar 4 1 1 5', '0 5 0 -1 5'],
  // Another limit for the same key finds the same time.
  [19_500, 'bar 9 1 1', '0 10 4 -1 6'],
  [19_500, 'bar 0 1 2', '1 1 0 6 6'],
  // No limit at all, and less than none.
  [30_000, 'none -1 1 1', '1 0 0 -1 0'],
  [30_000, 'none -1 1 1 0', '0 0 0 -1 0'],
  [30_000, 'none -5 1 1 0', '1 -4 0 -1 0'],
  // A part of a millisecond is no second.
  [40_000, 'fast 0 1001 1', '0 1 0 -1 0'],
  [40_000, 'slow 0 1000 1', '0 1 0 -1 1'],
]

test('the table of the specification holds, and what follows from it', async () => {
  const clock = fakeClock()
  const { ask } = deskOver(memoryThrottle({ clock }))
  for (const [atMs, call, expected] of rows) {
    clock.set(atMs)
    const reply = await ask('CL.THROTTLE', ...call.split(' '))
    expect([atMs, call, reply]).toEqual([atMs, call, `*5\r\n:${expected.replaceAll(' ', '\r\n:')}\r\n`])
  }
})

const int64 = fc.oneof(
  { weight: 12, arbitrary: fc.integer({ min: -3, max: 40 }).map(BigInt) },
  { weight: 3, arbitrary: fc.integer({ min: -1000, max: 10_000_000 }).map(BigInt) },
  { weight: 2, arbitrary: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }) },
  { weight: 1, arbitrary: fc.bigInt({ min: 0n, max: 70n }).map(back => 2n ** 63n - 1n - back) },
  { weight: 1, arbitrary: fc.bigInt({ min: 0n, max: 62n }).map(power => 2n ** power) },
)

const step = fc.record({
  /** Whole microseconds, mostly, and odd milliseconds. */
  advanceMs: fc.oneof(
    fc.constant(0),
    fc.integer({ min: 0, max: 3_000_000 }).map(us => us / 1000),
    fc.integer({ min: 0, max: 50_000 }).map(n => 2 * n + 1),
  ),
  key: fc.constantFrom('a', 'b', 'c'),
  maxBurst: int64,
  count: int64,
  period: int64,
  quantity: fc.oneof({ weight: 2, arbitrary: fc.constant(1n) }, { weight: 1, arbitrary: int64 }),
  forget: fc.integer({ min: 0, max: 30 }).map(n => n === 0),
})

/** One of few plans for each key, so that buckets fill: what a server sees most. */
const planned = fc
  .array(fc.record({ maxBurst: int64, count: int64, period: int64 }), { minLength: 1, maxLength: 3 })
  .chain(plans => fc.array(fc.tuple(step, fc.constantFrom(...plans)).map(([one, plan]) => ({ ...one, ...plan }))))

const START_MS = 1_700_000_000_000

test.each([
  ['arguments that change with every call', fc.array(step, { maxLength: 60 })],
  ['a few plans', planned],
])('every reply is that of the oracle: %s', async (_, steps) => {
  await fc.assert(
    fc.asyncProperty(steps, async trace => {
      const clock = fakeClock(START_MS)
      const { ask } = deskOver(memoryThrottle({ clock }))
      const oracle = new CellOracle()
      for (const { advanceMs, forget, key, ...call } of trace) {
        clock.advance(advanceMs)
        if (forget) {
          await ask('DEL', key)
          oracle.forget(key)
        }
        const nowNs = BigInt(Math.round(clock.now() * 1000)) * 1000n
        const args = [call.maxBurst, call.count, call.period, call.quantity].map(String)
        expect(await ask('CL.THROTTLE', key, ...args)).toBe(oracle.reply({ nowNs, key, ...call }))
      }
    }),
    { numRuns: 400 },
  )
})

test('a clock that is set back admits nothing more', async () => {
  const clock = fakeClock(10_000)
  const { ask } = deskOver(memoryThrottle({ clock }))
  const first = await ask('CL.THROTTLE', 'k', '0', '1', '2')
  clock.set(0)
  expect(first).toBe('*5\r\n:0\r\n:1\r\n:0\r\n:-1\r\n:2\r\n')
  expect(await ask('CL.THROTTLE', 'k', '0', '1', '2')).toBe('*5\r\n:1\r\n:1\r\n:0\r\n:2\r\n:2\r\n')
})

test.each([0, -1, 1.5, Number.NaN, 2 ** 31])('maxKeys of %d is refused', maxKeys => {
  expect(() => memoryThrottle({ maxKeys })).toThrow(/expected maxKeys .* \[SLUICE_BAD_OPTION/)
})
