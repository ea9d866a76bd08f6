import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ask } from '../../fixtures/proxies/ask.ts'
import { serving } from '../../fixtures/proxies/serving.ts'

const POLICIES: readonly (readonly [kind: string, rule: string, windowMs: number])[] = [
  ['a token bucket', 'token-bucket: { capacity: 5, refill: 3/m }', 100_000],
  ['a leaky bucket', 'leaky-bucket: { capacity: 3, leak: 1/10s }', 30_000],
  ['a gcra', 'gcra: { rate: 7/m, burst: 4 }', 35_000],
  ['a fixed window', 'fixed-window: 5/1m', 60_000],
  ['a sliding window', 'sliding-window: { limit: 40, window: 1m, buckets: 6 }', 60_000],
  ['a sliding log', 'sliding-log: 5/1m', 60_000],
]
const pauses = fc.array(fc.integer({ min: 0, max: 40_000 }), { minLength: 5, maxLength: 25 })
const costs = fc.infiniteStream(fc.constantFrom(1, 1, 1, 2, 3))

describe.each(POLICIES)('the fields of the decision endpoint under %s', (kind, rule, windowMs) => {
  test('tell a time within the window, which does not move away, and a wait after which the caller is served', async () => {
    const { ports, clock } = await serving(`limits: { some: { key: [ip, user], ${rule} } }`)
    let user = 0
    await fc.assert(
      fc.asyncProperty(pauses, costs, async (waits, costOf) => {
        user++
        const decide = async (cost: number) => {
          const path = `/v1/decide?user=${user}&cost=${cost}`
          const { status, headers } = await ask(ports.http, path, { headers: { 'X-Forwarded-Uri': '/' } })
          const [, left, seconds] = /;r=(\d+);t=(\d+)/.exec(String(headers.ratelimit))!
          return { status, left: Number(left), seconds: Number(seconds), retryAfter: headers['retry-after'] }
        }
        let before = { left: -1, dueMs: 0 }
        for (const ms of waits) {
          const cost = costOf.next().value
          const { status, left, seconds, retryAfter } = await decide(cost)
          expect(retryAfter).toBe(status === 429 ? `${seconds}` : undefined)
          if (status === 200 && left > 0) expect(seconds * 1000).toBeLessThanOrEqual(windowMs)
          const dueMs = clock.now() + seconds * 1000
          // Each time is rounded up to a second, so the earlier one may be over as much sooner.
          const isBefore = clock.now() < before.dueMs - 1000
          if (status === 200 && left === before.left && isBefore && !isLog(kind, left)) {
            expect(dueMs).toBeLessThan(before.dueMs + 1000)
          }
          before = status === 200 ? { left, dueMs } : { left: -1, dueMs: 0 }
          clock.advance(ms)
          if (status === 429) {
            clock.advance(Math.max(0, seconds * 1000 - ms))
            expect((await decide(cost)).status).toBe(200)
          }
        }
      }),
      { numRuns: 20 },
    )
  })
})

/** In a log an entry may have left meanwhile, and another one come. */
function isLog(kind: string, left: number): boolean {
  return kind === 'a sliding log' && left > 0
}
