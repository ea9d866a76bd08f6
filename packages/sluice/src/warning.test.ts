import { afterEach, expect, test, vi } from 'vitest'
import { type Warning, warnOnce } from './warning.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

test('the process is warned once of each thing, with the code', () => {
  const warned = vi.spyOn(process, 'emitWarning').mockReturnValue()
  for (const what of ['one', 'one', 'another']) warnOnce('SLUICE_SAME_NAME', `${what} of this test`)
  expect(warned.mock.calls).toEqual(
    ['one', 'another'].map(what => [
      `${what} of this test [SLUICE_SAME_NAME, see node_modules/sluice/errors.md#sluice_same_name]`,
      { type: 'SluiceWarning', code: 'SLUICE_SAME_NAME' },
    ]),
  )
})

test('a listener hears it instead, and once', () => {
  const warned = vi.spyOn(process, 'emitWarning').mockReturnValue()
  const heard: Warning[] = []
  const listener = (warning: Warning) => heard.push(warning)
  for (let i = 0; i < 3; i++) warnOnce('SLUICE_SAME_NAME', 'heard', listener)
  warnOnce('SLUICE_SAME_NAME', 'heard', warning => heard.push(warning))
  expect(heard).toEqual([1, 2].map(() => ({ type: 'warning', code: 'SLUICE_SAME_NAME', message: 'heard' })))
  expect(warned).not.toHaveBeenCalled()
})

test('a flood of different warnings ends', () => {
  let heard = 0
  const listener = () => void heard++
  for (let i = 0; i < 1000; i++) warnOnce('SLUICE_SAME_NAME', `number ${i}`, listener)
  expect(heard).toBe(100)
})

test('where there is no process, as in a browser, nothing is said', () => {
  vi.stubGlobal('process', undefined)
  try {
    expect(() => warnOnce('SLUICE_SAME_NAME', 'in a browser')).not.toThrow()
  } finally {
    vi.unstubAllGlobals()
  }
})
