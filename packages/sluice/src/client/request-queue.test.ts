import { expect, test } from 'vitest'
import { fakeClock } from '../testing/index.ts'
import type { RateLimitInfo } from './fields/rate-limit-info.ts'
import { type Permit, RequestQueue } from './request-queue.ts'

const LIMIT = 20
const UNIT_MS = 500

/** What a bucket of 20 that refills two a second says with so many left: the reset is when it is full. */
function told(now: number, remaining: number, resetAt = now + (LIMIT - remaining) * UNIT_MS): RateLimitInfo {
  return { limit: LIMIT, remaining, resetAt, retryAt: undefined, policies: [], bucket: undefined, scope: undefined }
}

function acquireAll(queue: RequestQueue): Permit[] {
  const permits: Permit[] = []
  for (let permit = queue.tryAcquire(); permit !== undefined && permits.length < 100; permit = queue.tryAcquire())
    permits.push(permit)
  return permits
}

test('an emptied bucket opens when one more is due, in whatever order the last answers come', () => {
  const clock = fakeClock()
  const queue = new RequestQueue(clock)
  for (let remaining = LIMIT - 1; remaining >= 2; remaining--)
    queue.release(queue.tryAcquire()!, told(clock.now(), remaining))
  const [one, other] = acquireAll(queue)
  queue.release(other!, told(clock.now(), 0))
  queue.release(one!, told(clock.now(), 1))
  expect(queue.tryAcquire()).toBeUndefined()
  expect(queue.waitMs).toBeGreaterThanOrEqual(UNIT_MS)
  expect(queue.waitMs).toBeLessThan(2 * UNIT_MS)
})

test('an emptied window opens at its reset', () => {
  const clock = fakeClock()
  const queue = new RequestQueue(clock)
  for (let remaining = LIMIT - 1; remaining >= 0; remaining--)
    queue.release(queue.tryAcquire()!, told(0, remaining, 7000))
  expect(queue.waitMs).toBe(7000)
})

test('what is under way counts as taken, however the answers are ordered', () => {
  const queue = new RequestQueue(fakeClock())
  queue.release(queue.tryAcquire()!, told(0, 5, 9000))
  const permits = acquireAll(queue)
  expect(permits.length).toBe(5)
  for (const [i, remaining] of [3, 4, 1, 2].entries()) {
    queue.release(permits[i]!, told(0, remaining, 9000))
    expect(queue.tryAcquire()).toBeUndefined()
  }
  queue.release(permits[4]!, told(0, 0, 9000))
  expect(queue.waitMs).toBe(9000)
})

test('after a reset one request asks, and the others follow its answer', () => {
  const clock = fakeClock()
  const queue = new RequestQueue(clock)
  queue.release(queue.tryAcquire()!, told(0, 0, 1000))
  clock.advance(1000)
  const [probe, ...others] = acquireAll(queue)
  expect(others).toEqual([])
  queue.release(probe!, told(clock.now(), 3, 5000))
  expect(acquireAll(queue).length).toBe(3)
})
