import { expect, test } from 'vitest'
import { createLimiter, policyOf, type RateText, slidingLog, slidingWindow } from './index.ts'

// The types are tested by the compiler, which runs over tests too.

test('what the types refuse is refused at run time, too', () => {
  const refused: (() => unknown)[] = [
    // @ts-expect-error: no such unit
    () => createLimiter('100/lightyear'),
    // @ts-expect-error: a rate without a period
    () => createLimiter('100'),
    // @ts-expect-error: no number
    () => createLimiter('many/s'),
    // @ts-expect-error: a bare number may mean seconds or milliseconds
    () => slidingWindow({ limit: 100, window: 60 }),
    // @ts-expect-error: no such unit
    () => slidingWindow({ limit: 100, window: '1w' }),
    // @ts-expect-error: no number
    () => slidingWindow({ limit: 100, window: 'm' }),
  ]
  for (const call of refused) expect(call).toThrow(/SLUICE_BAD_(RATE|WINDOW)/)
})

test('texts from elsewhere go through policyOf', () => {
  const fromDatabase: string = '100/15m'
  expect(policyOf(fromDatabase)).toEqual(slidingWindow({ limit: 100, window: '15m' }))
  expect(policyOf(JSON.parse(JSON.stringify(slidingLog({ limit: 5, window: '1s' }))))).toEqual(policyOf('5/s'))
  const rates: RateText[] = ['1/s', '1/15m', '0.5/h', '2/1.5h']
  expect(rates.length).toBe(4)
})
