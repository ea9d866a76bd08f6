import { fixedWindow, gcra, type Policy, slidingLog, slidingWindow, tokenBucket } from 'sluice'
import { envelopeViolation } from 'sluice/testing'
import { type RedisCluster, type RedisServer, startCluster, startRedis } from 'sluice-harness'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Drill, type Fleet, startFleet, type Tally } from './fleet/fleet.ts'
import { countByWindow, idealAdmissions, mostInSpan } from './fleet/ideal.ts'

const SECOND = 1_000_000
const LIMIT = 500
/** A burst just before a whole second, and the windows after it. */
const ACROSS = { beforeMs: 200, afterMs: 3050, denyCache: true }
const timeout = 20_000

/** Runs a drill and checks what holds for every policy: the fleet admits exactly what one limiter would admit. */
async function drill(fleet: Fleet, policy: Policy, how: Omit<Drill, 'policy'> = ACROSS): Promise<Tally> {
  const tally = await fleet.perform({ policy, ...how })
  expect(tally.degraded).toBe(0)
  expect(tally.refused.length).toBeGreaterThan(0)
  expect(tally.admitted).toEqual(idealAdmissions(policy, tally))
  const admissions = tally.admitted.map(at => ({ at, cost: 1 }))
  expect(envelopeViolation(policy, admissions)).toBeUndefined()
  return tally
}

/** The admissions in each window that was used from its start to its end. */
function fullWindows({ admitted, strikeAt }: Tally): (number | undefined)[] {
  const counts = countByWindow(admitted, SECOND)
  return [0, 1, 2].map(n => counts.get(strikeAt + n * SECOND))
}

describe('4 processes with 50 callers each on one server admit what one limiter would', () => {
  let server: RedisServer
  let fleet: Fleet

  beforeAll(async () => {
    server = await startRedis()
    fleet = await startFleet({ nodes: [{ host: server.host, port: server.port }], isCluster: false })
  }, 30_000)

  afterAll(async () => {
    await fleet?.stop()
    await server?.stop()
  })

  test('a fixed window: exactly its limit in each, and twice that around a boundary', { timeout }, async () => {
    const tally = await drill(fleet, fixedWindow({ limit: LIMIT, window: '1s' }))
    expect(fullWindows(tally)).toEqual([LIMIT, LIMIT, LIMIT])
    // What the next ones are held to not doing, and proof that the load would make them.
    expect(mostInSpan(tally.admitted, SECOND)).toBeGreaterThan(1.5 * LIMIT)
    expect(tally.cached).toBeGreaterThan(tally.admitted.length)
  })

  test('the same where every refusal is asked for', { timeout }, async () => {
    const tally = await drill(fleet, fixedWindow({ limit: LIMIT, window: '1s' }), { ...ACROSS, denyCache: false })
    expect(fullWindows(tally)).toEqual([LIMIT, LIMIT, LIMIT])
    expect(tally.cached).toBe(0)
  })

  test('a sliding window: no second burst across a boundary', { timeout }, async () => {
    const { admitted } = await drill(fleet, slidingWindow({ limit: LIMIT, window: '1s' }))
    // What was admitted before the boundary is given back in proportion to the time since, and not at once.
    for (const part of [0.1, 0.25, 0.5]) {
      expect(mostInSpan(admitted, part * SECOND)).toBeLessThanOrEqual(LIMIT * (1 + part))
    }
    expect(admitted.length).toBeGreaterThan(2 * LIMIT)
  })

  test('a sliding window of ten parts: its limit in any nine of them', { timeout }, async () => {
    const { admitted } = await drill(fleet, slidingWindow({ limit: LIMIT, window: '1s', buckets: 10 }))
    expect(mostInSpan(admitted, 0.9 * SECOND)).toBe(LIMIT)
  })

  test('a sliding log: its limit in any second, wherever it starts', { timeout }, async () => {
    const { admitted } = await drill(fleet, slidingLog({ limit: LIMIT, window: '1s' }))
    expect(mostInSpan(admitted, SECOND)).toBe(LIMIT)
    expect(admitted.length).toBeGreaterThan(2 * LIMIT)
  })

  test('a token bucket: its capacity and what was refilled, to the token', { timeout }, async () => {
    const { admitted, refused } = await drill(fleet, tokenBucket({ capacity: 300, refill: '700/s' }))
    // At the last refusal there was less than one token left.
    const end = refused.at(-1)!
    const ideal = Math.floor(300 + (700 * (end - admitted[0]!)) / SECOND)
    expect(admitted.filter(at => at <= end)).toHaveLength(ideal)
  })
})

describe('the same fleet on a cluster', () => {
  let cluster: RedisCluster
  let fleet: Fleet

  beforeAll(async () => {
    cluster = await startCluster()
    fleet = await startFleet({ nodes: cluster.nodes.map(({ host, port }) => ({ host, port })), isCluster: true })
  }, 30_000)

  afterAll(async () => {
    await fleet?.stop()
    await cluster?.stop()
  })

  test('gcra: its burst and its rate, to the request', { timeout }, async () => {
    const { admitted, refused } = await drill(fleet, gcra({ rate: '700/s', burst: 300 }))
    const end = refused.at(-1)!
    const ideal = Math.floor(300 + (700 * (end - admitted[0]!)) / SECOND)
    expect(admitted.filter(at => at <= end)).toHaveLength(ideal)
  })
})

describe('the judges see', () => {
  const policy = fixedWindow({ limit: 2, window: '1s' })

  test('one admission too many, and one too few', () => {
    const asked = [5, 6, 7, SECOND + 1]
    const right = { admitted: [5, 6, SECOND + 1], refused: [7] }
    expect(idealAdmissions(policy, right)).toEqual(right.admitted)
    expect(idealAdmissions(policy, { admitted: asked, refused: [] })).not.toEqual(asked)
    expect(idealAdmissions(policy, { admitted: [5, 6], refused: [7, SECOND + 1] })).not.toEqual([5, 6])
  })

  test('a burst in a span, and what is in each window', () => {
    expect(mostInSpan([0, 5, 9, 10], 10)).toBe(3)
    expect(mostInSpan([0, 5, 9, 10], 11)).toBe(4)
    expect(mostInSpan([], 10)).toBe(0)
    expect([...countByWindow([1, 9, 10, 35], 10)]).toEqual([
      [0, 2],
      [10, 1],
      [30, 1],
    ])
  })
})
