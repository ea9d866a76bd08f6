import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assertTimeZone, type CalendarUnit, type CalendarWindow, calendarWindow, isCalendar } from './calendar.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const UNITS: CalendarUnit[] = ['day', 'week', 'month']
const YEAR_2200 = Date.UTC(2200, 0, 1)

const iso = (at: number) => new Date(at).toISOString().replace(':00.000Z', 'Z')

/** The local date as text, written independently of the code under test. */
const labelers = new Map<string, Intl.DateTimeFormat>()
function localDate(zone: string, at: number): string {
  const labeler =
    labelers.get(zone) ??
    new Intl.DateTimeFormat('sv-SE', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' })
  labelers.set(zone, labeler)
  return labeler.format(at)
}

/** Names the local day, week (counted from a Monday) or month of an instant. */
function label(unit: CalendarUnit, zone: string, at: number): string {
  const date = localDate(zone, at)
  if (unit === 'day') return date
  if (unit === 'month') return date.slice(0, 7)
  const sinceMonday = (Date.parse(date) - Date.parse('1969-12-29')) / DAY
  return `week ${String(Math.floor(sinceMonday / 7) + 1).padStart(5, '0')}`
}

type Row = [why: string, unit: CalendarUnit, zone: string, at: string, start: string, hours: number]

test.each<Row>([
  ['a plain day', 'day', 'UTC', '2026-05-14T13:45Z', '2026-05-14T00:00Z', 24],
  ['its first instant', 'day', 'UTC', '2026-05-14T00:00:00.000Z', '2026-05-14T00:00Z', 24],
  ['its last millisecond', 'day', 'UTC', '2026-05-14T23:59:59.999Z', '2026-05-14T00:00Z', 24],
  ['the epoch', 'day', 'UTC', '1970-01-01T00:00Z', '1970-01-01T00:00Z', 24],
  ['a start before the epoch', 'day', 'Asia/Tokyo', '1970-01-01T00:00Z', '1969-12-31T15:00Z', 24],
  ['a week from before the epoch', 'week', 'UTC', '1970-01-01T00:00Z', '1969-12-29T00:00Z', 168],
  ['a month from before the epoch', 'month', 'America/New_York', '1970-01-01T00:00Z', '1969-12-01T05:00Z', 31 * 24],
  ['the year 2100 is no leap year', 'month', 'UTC', '2100-02-15T00:00Z', '2100-02-01T00:00Z', 28 * 24],
  ['the end of the range', 'month', 'UTC', '2199-12-31T23:59:59.999Z', '2199-12-01T00:00Z', 31 * 24],

  ['clocks forward: 23 h', 'day', 'Europe/Berlin', '2026-03-29T12:00Z', '2026-03-28T23:00Z', 23],
  ['clocks back: 25 h', 'day', 'Europe/Berlin', '2026-10-25T12:00Z', '2026-10-24T22:00Z', 25],
  ['the second 02:30 of a 25 h day', 'day', 'Europe/Berlin', '2026-10-25T01:30Z', '2026-10-24T22:00Z', 25],
  ['local evening is the next UTC day', 'day', 'America/New_York', '2026-07-02T03:59Z', '2026-07-01T04:00Z', 24],

  ['a week starts on Monday', 'week', 'UTC', '2026-01-07T00:00Z', '2026-01-05T00:00Z', 168],
  ['Monday opens it', 'week', 'UTC', '2026-01-05T00:00Z', '2026-01-05T00:00Z', 168],
  ['Sunday closes it', 'week', 'UTC', '2026-01-11T23:59Z', '2026-01-05T00:00Z', 168],
  ['a week over New Year', 'week', 'UTC', '2026-01-01T00:00Z', '2025-12-29T00:00Z', 168],
  ['a week that loses an hour', 'week', 'Europe/Berlin', '2026-03-29T21:59Z', '2026-03-22T23:00Z', 167],
  ['a week that gains an hour', 'week', 'Europe/Berlin', '2026-10-20T00:00Z', '2026-10-18T22:00Z', 169],

  ['28 days', 'month', 'Europe/Berlin', '2026-02-10T00:00Z', '2026-01-31T23:00Z', 28 * 24],
  ['29 days', 'month', 'Europe/Berlin', '2028-02-29T12:00Z', '2028-01-31T23:00Z', 29 * 24],
  ['30 days', 'month', 'Europe/Berlin', '2026-06-30T21:59Z', '2026-05-31T22:00Z', 30 * 24],
  ['31 days less an hour', 'month', 'Europe/Berlin', '2026-03-01T00:00Z', '2026-02-28T23:00Z', 31 * 24 - 1],
  ['31 days and an hour', 'month', 'Europe/Berlin', '2026-10-31T22:59Z', '2026-09-30T22:00Z', 31 * 24 + 1],
  ['December', 'month', 'UTC', '2026-12-31T23:59Z', '2026-12-01T00:00Z', 31 * 24],

  [
    'midnight skipped: the day starts at 01:00',
    'day',
    'America/Sao_Paulo',
    '2018-11-04T12:00Z',
    '2018-11-04T03:00Z',
    23,
  ],
  ['the day before is whole', 'day', 'America/Sao_Paulo', '2018-11-04T02:59Z', '2018-11-03T03:00Z', 24],
  ['back at midnight: 23:30 twice', 'day', 'America/Sao_Paulo', '2018-02-18T02:30Z', '2018-02-17T02:00Z', 25],
  ['midnight skipped in Cairo', 'day', 'Africa/Cairo', '2024-04-26T12:00Z', '2024-04-25T22:00Z', 23],
  ['midnight skipped in Beirut', 'day', 'Asia/Beirut', '2024-03-31T12:00Z', '2024-03-30T22:00Z', 23],
  ['midnight twice in Havana: the first counts', 'day', 'America/Havana', '2026-11-01T05:30Z', '2026-11-01T04:00Z', 25],
  ['midnight twice in the Azores', 'day', 'Atlantic/Azores', '2026-10-25T12:00Z', '2026-10-25T00:00Z', 25],
  ['a month that opens with two midnights', 'month', 'America/Havana', '2026-11-09T00:00Z', '2026-11-01T04:00Z', 721],

  ["back over midnight in St. John's: 00:00", 'day', 'America/St_Johns', '2009-11-01T02:30Z', '2009-11-01T02:30Z', 25],
  ['its repeated evening is the new day', 'day', 'America/St_Johns', '2009-11-01T03:00Z', '2009-11-01T02:30Z', 25],
  ['and the new month', 'month', 'America/St_Johns', '2009-11-01T03:00Z', '2009-11-01T02:30Z', 721],
  ['the day before is whole', 'day', 'America/St_Johns', '2009-11-01T02:29Z', '2009-10-31T02:30Z', 24],
  ['three hours back over midnight', 'day', 'Antarctica/Casey', '2010-03-04T17:00Z', '2010-03-04T13:00Z', 27],

  ['the day before the skipped one', 'day', 'Pacific/Apia', '2011-12-30T09:59Z', '2011-12-29T10:00Z', 24],
  ['the day after the skipped one', 'day', 'Pacific/Apia', '2011-12-30T10:00Z', '2011-12-30T10:00Z', 24],
  ['a week of six days', 'week', 'Pacific/Apia', '2011-12-31T00:00Z', '2011-12-26T10:00Z', 6 * 24],
  ['a month of thirty days', 'month', 'Pacific/Apia', '2011-12-31T00:00Z', '2011-12-01T10:00Z', 30 * 24],

  ['a half-hour zone', 'day', 'Asia/Kolkata', '2026-05-14T18:30Z', '2026-05-14T18:30Z', 24],
  ['a quarter-hour zone', 'day', 'Asia/Kathmandu', '2026-05-14T18:14Z', '2026-05-13T18:15Z', 24],
  ['half an hour of summer time', 'day', 'Australia/Lord_Howe', '2026-10-04T00:00Z', '2026-10-03T13:30Z', 23.5],
  ['the earliest zone', 'day', 'Pacific/Kiritimati', '2026-05-14T10:00Z', '2026-05-14T10:00Z', 24],
  ['the latest zone', 'day', 'Etc/GMT+12', '2026-05-14T11:59Z', '2026-05-13T12:00Z', 24],
])('%s: the %s of %s at %s', (_, unit, zone, at, start, hours) => {
  const window = calendarWindow(unit, zone, Date.parse(at))
  expect({ start: iso(window.start), hours: (window.end - window.start) / HOUR }).toEqual({ start, hours })
})

test('a fraction of a millisecond stays on its side of the boundary', () => {
  const { end } = calendarWindow('day', 'UTC', 0)
  expect(calendarWindow('day', 'UTC', end - 0.001).end).toBe(end)
  expect(calendarWindow('day', 'UTC', end + 0.001).start).toBe(end)
  expect(calendarWindow('day', 'UTC', -0.001).end).toBe(0)
})

describe('in any zone at any time', () => {
  const zones = fc.constantFrom(...Intl.supportedValuesOf('timeZone'))
  const units = fc.constantFrom(...UNITS)
  // Today's rules and those of the turbulent decades; beyond 2038 zones only repeat themselves.
  const instants = fc.oneof(
    fc.integer({ min: 0, max: Date.UTC(2038, 0, 1) }),
    fc.integer({ min: 0, max: YEAR_2200 }),
    fc.double({ min: 0, max: YEAR_2200, noNaN: true }),
  )

  test('windows tile time: each ends where the next starts, and every instant is in the one it is given', () => {
    fc.assert(
      fc.property(units, zones, instants, (unit, zone, at) => {
        const window = calendarWindow(unit, zone, at)
        const { start, end } = window
        expect(start <= at && at < end).toBe(true)
        expect(calendarWindow(unit, zone, start)).toEqual(window)
        expect(calendarWindow(unit, zone, end - 1)).toEqual(window)
        expect(calendarWindow(unit, zone, end).start).toBe(end)
        expect(calendarWindow(unit, zone, start - 1).end).toBe(start)
      }),
      { numRuns: 500 },
    )
  })

  test('a window begins and ends with the same local date, week or month, and another one follows', () => {
    fc.assert(
      fc.property(units, zones, instants, (unit, zone, at) => {
        expectItsOwnDates(unit, zone, calendarWindow(unit, zone, at))
      }),
      { numRuns: 500 },
    )
  })

  test('so does every day of a year, the days of clock changes among them', () => {
    fc.assert(
      fc.property(zones, fc.integer({ min: 1970, max: 2040 }), (zone, year) => {
        for (let at = Date.UTC(year, 0, 1); at < Date.UTC(year + 1, 0, 1); ) {
          const window = calendarWindow('day', zone, at)
          expectItsOwnDates('day', zone, window)
          at = window.end
        }
      }),
      { numRuns: 50 },
    )
  })
})

function expectItsOwnDates(unit: CalendarUnit, zone: string, { start, end }: CalendarWindow) {
  const own = label(unit, zone, start)
  const inOrder =
    label(unit, zone, start - 1) < own && own === label(unit, zone, end - 1) && own < label(unit, zone, end)
  if (!inOrder) expect.fail(`${zone}: the ${unit} ${own} is not ${iso(start)} to ${iso(end)}`)
}

test.each<[zone: string, from: string, to: string, stepMs: number]>([
  ['Europe/Berlin', '2023-12-31T23:00Z', '2028-01-01T00:00Z', HOUR],
  ['America/Havana', '2024-01-01T05:00Z', '2027-01-01T00:00Z', HOUR],
  ['America/Sao_Paulo', '2016-01-01T02:00Z', '2019-12-01T00:00Z', HOUR],
  ['Pacific/Apia', '2011-12-01T10:00Z', '2012-03-01T00:00Z', HOUR],
  ['America/St_Johns', '2009-10-15T02:30Z', '2009-11-15T00:00Z', HOUR / 60],
])(
  'in %s from %s to %s every step of the clock is in the window of the highest date yet seen',
  (zone, from, to, stepMs) => {
    const first = Date.parse(from)
    const starts = new Map<string, number>()
    let highest = ''
    for (let at = first; at < Date.parse(to); at += stepMs) {
      const date = localDate(zone, at)
      if (date <= highest) continue
      highest = date
      starts.set(date, at)
    }
    const scanned = [...starts.values()]
    const walked: number[] = []
    for (let at = first; at < Date.parse(to); at = calendarWindow('day', zone, at).end) walked.push(at)
    expect(walked.map(iso)).toEqual(scanned.map(iso))
  },
)

test.each(UNITS)('%s is a calendar unit', unit => {
  expect(isCalendar(unit)).toBe(true)
})

test.each(['epoch', 'key', 'first', 'year', 'Day', ''])("'%s' is not a calendar unit", align => {
  expect(isCalendar(align)).toBe(false)
})

test.each(['Europe/Berlin', 'UTC', 'America/Argentina/Buenos_Aires', 'Etc/GMT+12', 'America/Port-au-Prince'])(
  'the time zone %s is returned as written',
  name => {
    expect(assertTimeZone(name)).toBe(name)
  },
)

test.each<[name: unknown, complaint: string]>([
  ['Europe/Atlantis', "'Europe/Atlantis'"],
  ['Berlin', "'Berlin'"],
  ['', "''"],
  [' UTC', "' UTC'"],
  ['local', "'local'"],
  ['Asia/\u212Aolkata', "'Asia/\u212Aolkata'"],
  ['+01:00', "'+01:00'; name a place: an offset knows no summer time"],
  ['-0500', "'-0500'; name a place: an offset knows no summer time"],
  [undefined, 'undefined'],
  [null, 'null'],
  [60, '60'],
  [['UTC'], 'an array of 1'],
])('%j is no time zone', (name, complaint) => {
  const assert = () => assertTimeZone(name)
  assertTimeZone('Asia/Kolkata') // known names are remembered; that must not let their look-alikes in
  expect(assert).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_TIME_ZONE' }))
  expect(assert).toThrow(`expected an IANA time zone such as 'Europe/Berlin', got ${complaint} [SLUICE_BAD_TIME_ZONE`)
})
