import { describe, expect, test } from 'vitest'
import { checkFunction, checkOptions, checkSyncFunction, nearestName } from './check-options.ts'

const KNOWN = ['key', 'window', 'limit', 'cost', 'policy', 'maxWait', 'limits', 'headers']

describe('an unknown option is refused with the one that was probably meant', () => {
  test.each([
    ['costs', 'cost'],
    ['Cost', 'cost'],
    ['max_wait', 'maxWait'],
    ['polciy', 'policy'],
    ['keyGenerator', 'key'],
    ['windowMs', 'window'],
    ['max', 'limit'],
    ['points', 'limit'],
    ['duration', 'window'],
    ['standardHeaders', 'headers'],
    ['ttl', 'window'],
    ['throttlers', 'limits'],
    ['timeout', 'maxWait'],
    ['constructor', undefined],
    ['__proto__', undefined],
    ['kez', undefined],
    ['somethingElse', undefined],
  ])('%s: %s', (name, meant) => {
    expect(nearestName(name, KNOWN)).toBe(meant)
  })

  test('in words', () => {
    expect(() => checkOptions('consume', { costs: 5 }, ['cost'])).toThrow(
      /^expected an option of consume, got 'costs'; write cost \[SLUICE_BAD_OPTION/,
    )
  })

  test('a foreign name means nothing to a call that does not know ours', () => {
    expect(nearestName('keyGenerator', ['cost'])).toBeUndefined()
  })
})

test.each([5, '15m', null, undefined, [], true])('%s is no object of options', options => {
  expect(() => checkOptions('block', options as never, ['limit', 'for'])).toThrow(
    /^expected options of block as \{ limit, for \}, got /,
  )
})

test('what is undefined counts as left out', () => {
  const options = checkOptions('limiter', { key: undefined, cost: 0 }, KNOWN)
  expect(Object.keys(options)).toEqual(['cost'])
})

test('options without it are handed on as they are', () => {
  const options = { cost: 1 }
  expect(checkOptions('consume', options, KNOWN)).toBe(options)
})

test('an async function is refused where its promise would be taken for the answer', () => {
  expect(() => checkSyncFunction('mode', async () => 'off')).toThrow(
    /^expected mode as a function that is not async, got an async function/,
  )
  expect(() => checkSyncFunction('mode', () => 'off')).not.toThrow()
  expect(() => checkFunction('onDecision', async () => {})).not.toThrow()
  expect(() => checkFunction('onDecision', 'log')).toThrow(/^expected onDecision as a function, got 'log'/)
})
