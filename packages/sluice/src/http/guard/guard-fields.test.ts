import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ask, heard } from '../../fixtures/http/fake-exchange.ts'
import { fakeClock } from '../../testing/index.ts'
import { random, randomPolicy } from '../../testing/trace.ts'
import { createGuard, ip } from '../index.ts'
import { describe, writeFields } from '../response/headers.ts'

const policy = fc.integer().map(seed => randomPolicy(random(seed)))
const pauses = fc.array(fc.oneof(fc.constant(0), fc.double({ min: 0, max: 100_000, noNaN: true })), { minLength: 1 })

test('a guard writes what its limits say, whatever the policies and however full they are', () => {
  fc.assert(
    fc.property(fc.array(policy, { minLength: 1, maxLength: 3 }), pauses, (policies, waits) => {
      const clock = fakeClock(1_700_000_000_000)
      const limits = Object.fromEntries(policies.map((policy, i) => [`limit ${i}`, { policy, key: ip() }]))
      const guard = createGuard({ limits, clock })
      // A twin that makes a decision of every request, as somebody wants to hear of it.
      const { decisions, onDecision } = heard()
      const twin = createGuard({ limits, clock, onDecision })
      const descriptions = policies.map((policy, i) => describe(`limit ${i}`, policy))
      for (const wait of waits) {
        clock.advance(wait)
        const { fields, refusal } = ask(guard)!
        expect(ask(twin)).toMatchObject({ fields, refusal })
        const { limits, at } = decisions.pop()!
        const expected: string[] = []
        writeFields(['draft-11'], descriptions, limits, 0, at, expected)
        // When a spent window has one more, the decision does not know.
        if (limits.every(({ allowed, remaining }) => !allowed || remaining > 0)) expect(fields).toEqual(expected)
      }
    }),
  )
})
