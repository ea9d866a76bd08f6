import { tokenBucket } from 'sluice'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Outcome, outcomesOf, SCENARIOS } from './chaos/all.ts'
import { boundOf } from './chaos/bound.ts'
import type { Figures } from './chaos/figures.ts'
import type { Entry, Journal } from './chaos/journal.ts'
import { violations } from './chaos/laws.ts'
import { type Scenario, scenario } from './chaos/scenario.ts'
import { json, table } from './chaos/table.ts'

/** Each has servers of its own, but all share an event loop: with more at once they would measure each other. */
const AT_ONCE = 2

describe('faults of real servers and networks', () => {
  let outcomes: Outcome[]

  beforeAll(async () => {
    outcomes = await outcomesOf(SCENARIOS, AT_ONCE)
  }, 300_000)

  const outcomeOf = (name: string) => outcomes[SCENARIOS.findIndex(one => one.name === name)]!

  for (const { name } of SCENARIOS) {
    test(`${name}: bounded, prompt, told, and over soon`, () => {
      const { figures, wrong } = outcomeOf(name)
      expect(wrong, JSON.stringify(figures)).toEqual([])
    })
  }

  test('10,000 decisions during a SIGSTOP of 5 s leave at most one batch of late charges', () => {
    const { figures } = outcomeOf('SIGSTOP for 5 s')
    expect(figures!.degraded).toBeGreaterThan(9900)
    expect(figures!.late).toBeLessThanOrEqual(128)
  })

  test('so do a thousand on their way when it comes', () => {
    const { figures } = outcomeOf('SIGSTOP for 1 s, in a rush')
    expect(figures!.stats.timeouts).toBeGreaterThan(1000)
    expect(figures!.late).toBeLessThanOrEqual(128)
  })

  test('a FLUSHALL hands out a window once more, and no more than that', () => {
    const { figures, scenario } = outcomeOf('FLUSHALL')
    expect(scenario.scarce.policy).toMatchObject({ limit: 400 })
    expect(figures!.bound.byStore).toBeGreaterThan(400)
    expect(figures!.bound.byStore).toBeLessThanOrEqual(800)
  })

  test('the table has a row for each of them, and JSON a line', () => {
    const text = table(outcomes)
    for (const { name } of SCENARIOS) expect(text).toContain(name)
    expect(outcomes.map(outcome => JSON.parse(json(outcome)).chaos)).toEqual(SCENARIOS.map(({ name }) => name))
  })
})

describe('the laws see', () => {
  const nothing = () => Promise.reject(new Error('not to be opened'))
  const bucket = { policy: tokenBucket({ capacity: 2, refill: '10/s' }), subjects: 1 }
  const lasting = scenario('lasting', nothing, { scarce: bucket })
  const sound: Figures = {
    decisions: 100,
    degraded: 50,
    errors: 0,
    bound: { byStore: 10, promised: 10, byOutage: 5, added: 5, violation: undefined },
    p99Ms: { calm: 1, first: 27, open: 0.1 },
    openedMs: 27,
    stallMs: 10,
    recoveryMs: 1500,
    reconnectMs: 1000,
    late: 128,
    events: { outage: 1, recovered: 1, degraded: 1, restored: 1 },
    reasons: ['SLUICE_STORE_TIMEOUT'],
    stats: { calls: 1, late: 0, cached: 0, timeouts: 0, open: 0 },
  }
  const patient = { recoversWithinMs: 1500 }
  const rows: [Partial<Figures>, string, Partial<Scenario>?][] = [
    [{ errors: 1 }, '1 callers were thrown at'],
    [{ bound: { ...sound.bound, byStore: 11 } }, 'the store admitted 11 of 10'],
    [{ bound: { ...sound.bound, byOutage: 6 } }, 'onOutage admitted 6 of 5'],
    [{ bound: { ...sound.bound, violation: 'too many' } }, 'law 4 is broken: too many'],
    [{ late: 129 }, '129 charges landed late, more than a batch for each outage'],
    [{ late: -1 }, '1 charges were forgotten'],
    [{ degraded: 51 }, '51 were decided by onOutage', { outage: 'none' }],
    [
      { reasons: ['SLUICE_STORE_FULL'] },
      'some were decided by onOutage because of SLUICE_STORE_FULL',
      { outage: 'none' },
    ],
    [{ degraded: 0 }, 'nothing was decided by onOutage'],
    [{ openedMs: undefined }, 'the store was silent about the outage'],
    [{ openedMs: 101 }, 'the breaker opened after 101.0 ms'],
    [{ events: { ...sound.events, recovered: 0 } }, 'the store was silent about its recovery'],
    [{ events: { outage: 1, recovered: 1 } }, 'the limits were silent about being degraded'],
    [{ events: { ...sound.events, restored: 0 } }, 'the limits were silent about being restored'],
    [{}, 'the store was silent about eviction', { evicts: true }],
    [{ recoveryMs: 1501, reconnectMs: 1001 }, 'it took 1501.0 ms to recover'],
    [{ reconnectMs: 499 }, 'it took 1001.0 ms to recover once connected'],
    [{ p99Ms: { ...sound.p99Ms, first: 101 } }, 'the first requests took 101.0 ms'],
    [{ p99Ms: { ...sound.p99Ms, open: 16 } }, 'with the breaker open requests took 16.0 ms'],
  ]

  test('nothing where all is well', () => {
    expect(violations({ ...lasting, ...patient }, sound)).toEqual([])
  })

  test.each(rows)('%j: %s', (change, what, special) => {
    expect(violations({ ...lasting, ...patient, ...special }, { ...sound, ...change })).toEqual([what])
  })

  const at = (ms: number, degraded: Entry['degraded'] = false): Entry => {
    return { askedAt: ms, ms: 0, at: ms, allowed: true, degraded }
  }
  const bound = (entries: readonly Entry[], forgottenAt: number[] = []) =>
    boundOf({ scenario: lasting, scarce: { entries } as Journal, forgottenAt, driftMs: 0 })

  test('a burst that is larger than the bucket', () => {
    expect(bound([at(0), at(0), at(100)])).toMatchObject({ byStore: 3, promised: 3, violation: undefined })
    expect(bound([at(0), at(0), at(99)])).toMatchObject({ byStore: 3, promised: 2 })
    expect(bound([at(0), at(0), at(99), at(500)]).violation).toMatch(/^the store let through 3 in/)
  })

  test('that a store which forgot starts afresh, once', () => {
    expect(bound([at(0), at(0), at(50), at(50)], [50])).toMatchObject({ promised: 4, violation: undefined })
    expect(bound([at(0), at(0), at(50), at(50), at(51)], [50]).violation).toMatch(/^the store let through 3 in/)
  })

  test('a process that takes more than its half', () => {
    expect(bound([at(0, 'local'), at(200, 'local')])).toMatchObject({ byOutage: 2, added: 2, violation: undefined })
    expect(bound([at(0, 'local'), at(199, 'local')]).violation).toMatch(/^on its own the process let through 2 in/)
  })

  test('a process that thinks it is later than it is', () => {
    const early = { ...at(100, 'local'), at: 5000 }
    expect(bound([at(0, 'local'), early])).toMatchObject({ byOutage: 2, added: 1, violation: undefined })
  })
})
