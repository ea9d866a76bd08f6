import { expect, test } from '@jest/globals'
import { createLimiter, type Decision, SluiceError } from 'sluice'
import { fakeClock } from 'sluice/testing'

test('a limiter decides by a clock that the test moves', () => {
  const clock = fakeClock()
  const limiter = createLimiter('1/s', { clock })
  const decisions: Decision[] = [limiter.consume('a'), limiter.consume('a')]
  expect(decisions.map(decision => decision.allowed)).toEqual([true, false])
  clock.advance(2000)
  expect(limiter.consume('a').allowed).toBe(true)
  expect(() => limiter.consume('a', { cost: -1 })).toThrow(SluiceError)
})
