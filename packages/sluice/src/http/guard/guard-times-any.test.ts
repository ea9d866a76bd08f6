import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ask, headersOf, statusOf } from '../../fixtures/http/fake-exchange.ts'
import { fakeClock } from '../../testing/index.ts'
import { KINDS, random, randomPolicy } from '../../testing/trace.ts'
import { createGuard } from './guard.ts'

const seeds = fc.integer({ min: 0, max: 2 ** 31 })

test.each(KINDS)('under any %s every family tells the same, and whoever keeps to Retry-After is served', kind => {
  fc.assert(
    fc.property(seeds, seed => {
      const rng = random(seed)
      const policy = randomPolicy(rng, kind)
      const clock = fakeClock(1_790_013_600_000 + Math.floor(rng() * 1e9) / 1000)
      const costs = Array.from({ length: 12 }, () => 1 + Math.floor(rng() * 3))
      let at = 0
      const guard = (headers: readonly ('draft-11' | 'draft-7' | 'draft-6' | 'x')[]) =>
        createGuard({ policy, clock, headers, unit: 'units', cost: () => costs[at]! })
      const [one, other] = [guard(['draft-11', 'draft-6', 'x']), guard(['draft-7', 'draft-6', 'x'])]
      for (; at < costs.length; at++) {
        const [mine, outcome] = [ask(one), ask(other)]
        const [fields, others] = [headersOf(mine), headersOf(outcome)]
        const [, left, t] = /;r=(\d+)(?:;t=(\d+))?/.exec(fields.RateLimit!)!
        expect(others.RateLimit).toMatch(
          t === undefined ? /remaining=\d+$/ : new RegExp(`remaining=${left}, reset=${t}$`),
        )
        expect([fields['RateLimit-Reset'], others['RateLimit-Reset']]).toEqual([t, t])
        if (t !== undefined) {
          const xSeconds = Number(fields['X-RateLimit-Reset']) - clock.now() / 1000
          expect(Math.abs(xSeconds - Number(t))).toBeLessThanOrEqual(1)
        }
        const retryAfter = fields['Retry-After']
        if (statusOf(mine) === 429 && retryAfter !== undefined) {
          expect(retryAfter).toBe(t)
          if (Number(retryAfter) > 1e9) return
          clock.advance(Number(retryAfter) * 1000)
          expect([statusOf(ask(one)), statusOf(ask(other))]).toEqual([200, 200])
        } else clock.advance(Math.floor(rng() * rng() * 5e6) / 1000)
      }
    }),
    { numRuns: 100 },
  )
})
