import { expect, test } from 'vitest'
import { fakeClock } from '../testing/index.ts'
import { Gate, type Pass } from './gate.ts'
import type { RateLimitInfo } from './read-rate-limit.ts'

const LIMIT = 20
const UNIT_MS = 500

/** What a bucket of 20 that refills two a second says with so many left: the reset is when it is full. */
function told(now: number, remaining: number, resetAt = now + (LIMIT - remaining) * UNIT_MS): RateLimitInfo {
  return { limit: LIMIT, remaining, resetAt, retryAt: undefined, policies: [], bucket: undefined, scope: undefined }
}

function enterAll(gate: Gate): Pass[] {
  const passes: Pass[] = []
  for (let pass = gate.tryEnter(); pass !== undefined && passes.length < 100; pass = gate.tryEnter()) passes.push(pass)
  return passes
}

test('an emptied bucket opens when one more is due, in whatever order the last answers come', () => {
  const clock = fakeClock()
  const gate = new Gate(clock)
  for (let remaining = LIMIT - 1; remaining >= 2; remaining--)
    gate.leave(gate.tryEnter()!, told(clock.now(), remaining))
  const [one, other] = enterAll(gate)
  gate.leave(other!, told(clock.now(), 0))
  gate.leave(one!, told(clock.now(), 1))
  expect(gate.tryEnter()).toBeUndefined()
  expect(gate.waitMs).toBeGreaterThanOrEqual(UNIT_MS)
  expect(gate.waitMs).toBeLessThan(2 * UNIT_MS)
})

test('an emptied window opens at its reset', () => {
  const clock = fakeClock()
  const gate = new Gate(clock)
  for (let remaining = LIMIT - 1; remaining >= 0; remaining--) gate.leave(gate.tryEnter()!, told(0, remaining, 7000))
  expect(gate.waitMs).toBe(7000)
})

test('what is under way counts as taken, however the answers are ordered', () => {
  const gate = new Gate(fakeClock())
  gate.leave(gate.tryEnter()!, told(0, 5, 9000))
  const passes = enterAll(gate)
  expect(passes.length).toBe(5)
  for (const [i, remaining] of [3, 4, 1, 2].entries()) {
    gate.leave(passes[i]!, told(0, remaining, 9000))
    expect(gate.tryEnter()).toBeUndefined()
  }
  gate.leave(passes[4]!, told(0, 0, 9000))
  expect(gate.waitMs).toBe(9000)
})

test('after a reset one request asks, and the others follow its answer', () => {
  const clock = fakeClock()
  const gate = new Gate(clock)
  gate.leave(gate.tryEnter()!, told(0, 0, 1000))
  clock.advance(1000)
  const [probe, ...others] = enterAll(gate)
  expect(others).toEqual([])
  gate.leave(probe!, told(clock.now(), 3, 5000))
  expect(enterAll(gate).length).toBe(3)
})
