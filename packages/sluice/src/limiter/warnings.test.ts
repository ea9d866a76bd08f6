import { afterEach, expect, test, vi } from 'vitest'
import { createLimiter, type LimiterEvent, memoryStore, slidingLog, slidingWindow } from '../index.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

const small = slidingWindow({ limit: 32, window: '1m' })

test('a small sliding window is warned of once, by the process', () => {
  const warned = vi.spyOn(process, 'emitWarning').mockReturnValue()
  for (let i = 0; i < 3; i++) createLimiter({ limits: { tiny: { policy: small, key: (name: string) => name } } })
  expect(warned.mock.calls).toEqual([
    [
      expect.stringMatching(/^limit 'tiny': a slidingWindow of 32 or less admits .* use slidingLog/),
      { type: 'SluiceWarning', code: 'SLUICE_SMALL_SLIDING_WINDOW' },
    ],
  ])
})

test('onEvent gets it instead, also of a policy that is chosen later', () => {
  const warned = vi.spyOn(process, 'emitWarning').mockReturnValue()
  const events: LimiterEvent[] = []
  const onEvent = (event: LimiterEvent) => events.push(event)
  const limiter = createLimiter({
    name: 'api',
    onEvent,
    limits: { user: { policy: () => small, key: (n: string) => n } },
  })
  expect(events).toEqual([])
  for (let i = 0; i < 3; i++) limiter.consume('a')
  expect(events).toMatchObject([{ type: 'warning', limiter: 'api', code: 'SLUICE_SMALL_SLIDING_WINDOW' }])
  expect(warned).not.toHaveBeenCalled()
})

test.each([
  ['a larger one', slidingWindow({ limit: 33, window: '1m' })],
  ['one that refuses everything', slidingWindow({ limit: 0, window: '1m' })],
  ['a log', slidingLog({ limit: 5, window: '1m' })],
  ['a rate', '5/m' as const],
])('nothing is said of %s', (_, policy) => {
  const events: LimiterEvent[] = []
  createLimiter(policy, { onEvent: event => events.push(event) }).consume('a')
  expect(events).toEqual([])
})

test('two limiters that count in the same place are noticed', () => {
  const events: LimiterEvent[] = []
  const store = memoryStore()
  const make = (name: string) => createLimiter('100/m', { name, store, onEvent: event => events.push(event) })
  const first = make('api')
  make('other')
  expect(events).toEqual([])
  const second = make('api')
  expect(events).toEqual([
    {
      type: 'warning',
      limiter: 'api',
      code: 'SLUICE_SAME_NAME',
      message: expect.stringContaining("two limiters named 'api' count limit 'default' in one store"),
    },
  ])
  first.close()
  second.close()
  make('api')
  expect(events.length).toBe(1)
})
