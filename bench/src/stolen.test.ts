import { availableParallelism } from 'node:os'
import { expect, test } from 'vitest'
import { stolenSeconds, stolenShare } from './stolen.ts'

test('what the host has taken only grows', () => {
  const before = stolenSeconds()
  expect(before).toBeGreaterThanOrEqual(0)
  expect(stolenSeconds()).toBeGreaterThanOrEqual(before)
})

test('is a share of all there was, on all processors', () => {
  const cpus = availableParallelism()
  expect(stolenShare(0, 200)).toBe(0)
  expect(stolenShare(0.2 * cpus, 200)).toBeCloseTo(1)
  expect(stolenShare(0.01 * cpus, 200)).toBeCloseTo(0.05)
})
