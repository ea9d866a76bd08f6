import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import { StoreUnavailable } from '../../errors.ts'
import { fakeClock } from '../../testing/index.ts'
import { warnings } from './warnings.ts'

const error = new StoreUnavailable('SLUICE_STORE_TIMEOUT', 'no answer')
const emitWarning = vi.spyOn(process, 'emitWarning')
const clock = fakeClock()
let observe: ReturnType<typeof warnings>

beforeEach(() => {
  emitWarning.mockReset().mockReturnValue()
  observe = warnings(clock)
})

afterAll(() => emitWarning.mockRestore())

const told = () => emitWarning.mock.calls.map(([text]) => text)
const lose = (shard: number) => observe({ type: 'outage', shard, error })
const regain = (shard: number) => observe({ type: 'recovered', shard, outageMs: 1 })

test('an outage of many shards is told once, and its end when the last is back', () => {
  lose(1)
  clock.advance(10)
  lose(2)
  regain(1)
  lose(1)
  clock.advance(90)
  regain(2)
  expect(told()).toEqual([
    expect.stringMatching(/^sluice: Redis cannot be asked, limits are decided by onOutage: no answer/),
  ])
  regain(1)
  expect(told()).toEqual([expect.anything(), 'sluice: Redis answers again after 100 ms'])
})

test('the next one is told again', () => {
  for (let outage = 0; outage < 2; outage++) {
    lose(1)
    regain(1)
  }
  expect(told()).toHaveLength(4)
})

test('each server that evicts is told of', () => {
  observe({ type: 'eviction', policy: 'allkeys-lru' })
  expect(told()).toEqual([expect.stringContaining('maxmemory-policy allkeys-lru')])
})
