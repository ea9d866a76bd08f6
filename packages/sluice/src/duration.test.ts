import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toTicks } from './clock.ts'
import { MAX_WINDOW_MS, MIN_WINDOW_MS, parseDuration, parseRate } from './duration.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const UNITS = { ms: 1, s: 1000, m: 60_000, h: HOUR, d: DAY }

function messageOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    return (error as Error).message
  }
  return 'nothing was thrown'
}

describe('a duration', () => {
  test.each<[value: unknown, ms: number]>([
    [0, 0],
    [-0, 0],
    ['1ms', 1],
    ['0.25ms', 0.25],
    ['1500.5ms', 1500.5],
    [`${1.1 * 1000}ms`, 1100],
    [`${0.1 + 0.2}ms`, 0.3],
    [`${MAX_WINDOW_MS}ms`, 366 * DAY],
    ['0s', 0],
    ['250ms', 250],
    ['10s', 10_000],
    ['15m', 15 * 60_000],
    ['1h', HOUR],
    ['1d', DAY],
    ['30d', 30 * DAY],
    ['366d', 366 * DAY],
    ['007s', 7000],
    ['0.5s', 500],
    ['1.5h', 1.5 * HOUR],
    ['0.1ms', 0.1],
    ['0.001ms', 0.001],
    ['0.000001s', 0.001],
    ['0.07s', 70],
    ['1.10s', 1100],
  ])('%j is %d ms', (value, ms) => {
    expect(parseDuration(value, 'window')).toBe(ms)
  })

  const WINDOW = "expected window to be a duration from 1ms to 366d (such as '250ms', '10s', '15m', '1h', '30d'), got "
  const SEE = ' [SLUICE_BAD_DURATION, see node_modules/sluice/errors.md#sluice_bad_duration]'

  test.each<[value: unknown, complaint: string]>([
    [NaN, 'NaN'],
    [Infinity, 'Infinity'],
    [-Infinity, '-Infinity'],
    [-1, '-1'],
    [0, '0'],
    [0.999, "0.999; write '0.999s' for seconds"],
    [60, "60; write '60s' for seconds or '60ms' for milliseconds"],
    [MAX_WINDOW_MS + 1, '31622400001'],
    [1e300, '1e+300'],
    [1.5, "1.5; write '1.5s' for seconds or '1.5ms' for milliseconds"],
    ['1.0005ms', "'1.0005ms'; time is counted in whole microseconds (0.001ms)"],
    ['0.5ms', "'0.5ms'"],
    ['367d', "'367d'"],
    [`${'9'.repeat(400)}d`, `'${'9'.repeat(77)}…'`],
    ['', "''"],
    ['10', "'10'; write '10s' for seconds or '10ms' for milliseconds"],
    ['0.5', "'0.5'; write '0.5s' for seconds"],
    ['1w', "'1w'; write '7d'"],
    ['2 weeks', "'2 weeks'; write '14d'"],
    ['1000w', "'1000w'"],
    ['10 s', "'10 s'; write '10s'"],
    [' 10s', "' 10s'; write '10s'"],
    ['10s\n', "'10s\n'; write '10s'"],
    ['10S', "'10S'; write '10s'"],
    ['30sec', "'30sec'; write '30s'"],
    ['5 min', "'5 min'; write '5m'"],
    ['5M', "'5M'"],
    ['2hours', "'2hours'; write '2h'"],
    ['1 day', "'1 day'; write '1d'"],
    ['h', "'h'; write '1h'"],
    ['100 msec', "'100 msec'; write '100ms'"],
    ['+5s', "'+5s'"],
    ['-5s', "'-5s'"],
    ['.5s', "'.5s'"],
    ['5.s', "'5.s'"],
    ['1e3ms', "'1e3ms'"],
    ['0x10s', "'0x10s'"],
    ['1,5s', "'1,5s'"],
    ['1h30m', "'1h30m'"],
    ['10/s', "'10/s'"],
    ['5constructor', "'5constructor'"],
    ['٣s', "'٣s'"],
    ['Infinitys', "'Infinitys'"],
    [undefined, 'undefined'],
    [null, 'null'],
    [true, 'true'],
    [10n, '10n'],
    [['10s'], 'an array of 1'],
    [{ ms: 10 }, 'an object with ms'],
    [new Date(5), 'an object with no properties'],
    [() => 5, 'a function'],
  ])('%o is refused as a window', (value, complaint) => {
    const parse = () => parseDuration(value, 'window', { min: MIN_WINDOW_MS, max: MAX_WINDOW_MS })
    expect(messageOf(parse)).toBe(WINDOW + complaint + SEE)
    expect(parse).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_DURATION' }))
  })

  test('the bounds are inclusive, and the message names them and the option', () => {
    const bounds = { min: 0.001, max: 90_000 }
    expect(parseDuration('0.001ms', 'ttl', bounds)).toBe(0.001)
    expect(parseDuration('1.5m', 'ttl', bounds)).toBe(90_000)
    expect(messageOf(() => parseDuration('2m', 'ttl', bounds))).toMatch(
      /^expected ttl to be a duration from 0.001ms to 90s \(/,
    )
    expect(messageOf(() => parseDuration(-1, 'maxWait'))).toMatch(
      /^expected maxWait to be a duration from 0ms to 366d \(/,
    )
  })

  test('any amount of any unit survives being written and read', () => {
    const amounts = fc
      .constantFrom(...(Object.keys(UNITS) as (keyof typeof UNITS)[]))
      .chain(unit =>
        fc.record({ unit: fc.constant(unit), amount: fc.integer({ min: 0, max: MAX_WINDOW_MS / UNITS[unit] }) }),
      )
    fc.assert(
      fc.property(amounts, ({ unit, amount }) => {
        expect(parseDuration(`${amount}${unit}`, 'window')).toBe(amount * UNITS[unit])
      }),
    )
  })

  test('every whole number of microseconds is exact, as decimal text in any unit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: MAX_WINDOW_MS * 1000 }), ticks => {
        const text = String(ticks).padStart(7, '0')
        expect(parseDuration(`${ticks / 1000}ms`, 'window')).toBe(ticks / 1000)
        expect(parseDuration(`${text.slice(0, -3)}.${text.slice(-3)}ms`, 'window')).toBe(ticks / 1000)
        expect(parseDuration(`${text.slice(0, -6)}.${text.slice(-6)}s`, 'window')).toBe(ticks / 1000)
        expect(toTicks(parseDuration(`${ticks / 1000}ms`, 'window'))).toBe(ticks)
      }),
    )
  })

  test('half a microsecond is refused at any size', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: MAX_WINDOW_MS * 1000 - 1 }), ticks => {
        expect(() => parseDuration(`${(ticks + 0.5) / 1000}ms`, 'window')).toThrow('whole microseconds')
      }),
    )
  })
})

describe('a rate', () => {
  test.each<[value: unknown, count: number, periodMs: number]>([
    ['10/s', 10, 1000],
    ['5000/h', 5000, HOUR],
    ['100/15m', 100, 15 * 60_000],
    ['1/250ms', 1, 250],
    ['60/1m', 60, 60_000],
    ['7/ms', 7, 1],
    ['1/d', 1, DAY],
    ['3/0.5s', 3, 500],
    ['010/s', 10, 1000],
    ['1/366d', 1, 366 * DAY],
    ['1000000/s', 1_000_000, 1000],
    ['1/0.001ms', 1, 0.001],
    ['31622400000000/366d', 31_622_400_000_000, 366 * DAY],
    [{ count: 10, periodMs: 1000 }, 10, 1000],
    [{ count: 1, periodMs: 0.001 }, 1, 0.001],
    [{ count: 3, periodMs: 1.1 * 1000, more: 'ignored' }, 3, 1100],
  ])('%j', (value, count, periodMs) => {
    expect(parseRate(value, 'refill')).toStrictEqual({ count, periodMs })
  })

  const RATE =
    "expected refill to be a rate from '1/366d' to '1000000/s' (text such as '10/s', '5000/h', '100/15m'), got "
  const SEE = ' [SLUICE_BAD_RATE, see node_modules/sluice/errors.md#sluice_bad_rate]'
  const ZERO = '; a rate of 0 never refills; to refuse everything, set the limit or capacity to 0'

  test.each<[value: unknown, complaint: string]>([
    ['0/s', `'0/s'${ZERO}`],
    [{ count: 0, periodMs: 1000 }, `an object with count, periodMs${ZERO}`],
    ['0.5/s', "'0.5/s'; write '1/2s'"],
    ['1.5/m', "'1.5/m'; write '3/2m'"],
    ['2.0/s', "'2.0/s'; write '2/s'"],
    ['0.333/s', "'0.333/s'; write '333/1000s'"],
    ['0.5/250ms', "'0.5/250ms'; write '1/500ms'"],
    ['0.5/366d', "'0.5/366d'"],
    ['10 / s', "'10 / s'; write '10/s'"],
    ['10/sec', "'10/sec'; write '10/s'"],
    ['10/minute', "'10/minute'; write '10/m'"],
    ['10/2 hours', "'10/2 hours'; write '10/2h'"],
    ['100/w', "'100/w'; write '100/7d'"],
    [10, "10; write '10/s'"],
    [0.5, "0.5; write '1/2s'"],
    ['10', "'10'; write '10/s'"],
    ['1000001/s', "'1000001/s'"],
    ['31622400000001/366d', "'31622400000001/366d'"],
    ['99999999999999999999/d', "'99999999999999999999/d'"],
    ['2/0.001ms', "'2/0.001ms'"],
    ['1/367d', "'1/367d'"],
    ['1/0s', "'1/0s'"],
    ['1/0.0005ms', "'1/0.0005ms'"],
    ['10/M', "'10/M'"],
    ['-1/s', "'-1/s'"],
    ['1e3/s', "'1e3/s'"],
    ['10/', "'10/'"],
    ['/s', "'/s'"],
    ['/', "'/'"],
    ['', "''"],
    ['10/s/s', "'10/s/s'"],
    ['10/-1s', "'10/-1s'"],
    ['ten/s', "'ten/s'"],
    [Infinity, 'Infinity'],
    [NaN, 'NaN'],
    [undefined, 'undefined'],
    [null, 'null'],
    [Object.create(null), 'an object with no properties'],
    [[10, 1000], 'an array of 2'],
    [{ count: 10 }, 'an object with count'],
    [{ count: 1.5, periodMs: 1000 }, 'an object with count, periodMs'],
    [{ count: -1, periodMs: 1000 }, 'an object with count, periodMs'],
    [{ count: '10', periodMs: 1000 }, 'an object with count, periodMs'],
    [{ count: 10, periodMs: '1s' }, 'an object with count, periodMs'],
    [{ count: 10, periodMs: -1000 }, 'an object with count, periodMs'],
    [{ count: 1, periodMs: 1.0005 }, 'an object with count, periodMs'],
    [{ count: 1, periodMs: null }, 'an object with count, periodMs'],
  ])('%j is refused', (value, complaint) => {
    const parse = () => parseRate(value, 'refill')
    expect(messageOf(parse)).toBe(RATE + complaint + SEE)
    expect(parse).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_RATE' }))
  })

  test('a rate is frozen and survives JSON', () => {
    const rate = parseRate('100/15m', 'refill')
    expect(Object.isFrozen(rate)).toBe(true)
    expect(parseRate(JSON.parse(JSON.stringify(rate)), 'refill')).toStrictEqual(rate)
  })

  test('one per microsecond is the fastest, to the unit, over any period', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: MAX_WINDOW_MS * 1000 }), ticks => {
        const periodMs = ticks / 1000
        expect(parseRate({ count: ticks, periodMs }, 'refill')).toStrictEqual({ count: ticks, periodMs })
        expect(() => parseRate({ count: ticks + 1, periodMs }, 'refill')).toThrow('SLUICE_BAD_RATE')
      }),
    )
  })
})

test('advice can be followed: what a message says to write is accepted', () => {
  const words = ['w', 'week', 'sec', 'Second', 'mins', 'HOURS', 'day', 'ms', 's', 'M', 'y']
  const amounts = fc.oneof(fc.nat({ max: 400 }).map(String), fc.stringMatching(/^\d{1,3}\.\d{1,3}$/))
  fc.assert(
    fc.property(amounts, fc.constantFrom('', ' ', '/', ' / '), fc.constantFrom(...words), (amount, between, word) => {
      const text = amount + between + word
      const parse = text.includes('/') ? parseRate : parseDuration
      const advised = /write '([^']+)'/.exec(messageOf(() => parse(text, 'window')))?.[1]
      if (advised !== undefined) expect(() => parse(advised, 'window')).not.toThrow()
    }),
  )
})
