import { expect, test } from 'vitest'
import { createLimiter, fixedWindow } from '../index.ts'
import { fakeClock } from '../testing/index.ts'
import { TopKeys } from './top-keys.ts'

const of = (limit: number) => fixedWindow({ limit, window: '1m' })
const byCaller = (caller: string) => caller

test('a stricter trial is told by how many and who would newly be refused', () => {
  const limiter = createLimiter<string>({
    clock: fakeClock(),
    limits: {
      now: { policy: of(5), key: byCaller },
      trial: { policy: of(2), key: byCaller, mode: 'shadow', replaces: 'now' },
    },
  })
  for (let n = 0; n < 7; n++) limiter.consume('busy')
  for (let n = 0; n < 3; n++) limiter.consume('calm')
  expect(limiter.shadows()).toEqual([
    {
      limit: 'trial',
      decided: 10,
      newlyRefused: 4,
      newlyAllowed: 0,
      top: [
        { key: 'busy', count: 3, over: 0 },
        { key: 'calm', count: 1, over: 0 },
      ],
    },
  ])
})

test('a laxer trial is told by how many would newly pass', () => {
  const limiter = createLimiter<string>({
    clock: fakeClock(),
    limits: {
      now: { policy: of(2), key: byCaller },
      trial: { policy: of(5), key: byCaller, mode: 'shadow', replaces: 'now' },
    },
  })
  for (let n = 0; n < 7; n++) limiter.consume('busy')
  expect(limiter.shadows()).toMatchObject([{ decided: 7, newlyRefused: 0, newlyAllowed: 3, top: [] }])
})

test('what another limit refuses anyway is no divergence', () => {
  const limiter = createLimiter<string>({
    clock: fakeClock(),
    limits: {
      other: { policy: of(0), key: byCaller },
      now: { policy: of(2), key: byCaller },
      trial: { policy: of(0), key: byCaller, mode: 'shadow', replaces: 'now' },
      beside: { policy: of(0), key: byCaller, mode: 'shadow' },
    },
  })
  for (let n = 0; n < 4; n++) limiter.consume('a')
  expect(limiter.shadows().map(({ newlyRefused, newlyAllowed }) => [newlyRefused, newlyAllowed])).toEqual([
    [0, 0],
    [0, 0],
  ])
})

test('looking is no decision, and enforced limits are not in the report', () => {
  const limiter = createLimiter<string>({
    clock: fakeClock(),
    limits: { now: { policy: of(2), key: byCaller }, trial: { policy: of(0), key: byCaller, mode: 'shadow' } },
  })
  limiter.peek('a')
  expect(limiter.shadows()).toEqual([])
  limiter.setMode('trial', 'enforce')
  limiter.consume('a')
  expect(limiter.shadows()).toEqual([])
  limiter.setMode('trial', () => 'shadow')
  limiter.consume('a')
  expect(limiter.shadows()).toMatchObject([{ limit: 'trial', newlyRefused: 1 }])
})

test('the most frequent keys are found in bounded room, never counted too low', () => {
  const top = new TopKeys(8)
  const truth = new Map<string, number>()
  for (let n = 0; n < 10_000; n++) {
    const key = n % 3 === 0 ? `hot ${n % 2}` : `cold ${n}`
    truth.set(key, (truth.get(key) ?? 0) + 1)
    top.add(key)
  }
  const shown = top.read()
  expect(shown).toHaveLength(8)
  expect(shown.slice(0, 2).map(({ key }) => key)).toEqual(expect.arrayContaining(['hot 0', 'hot 1']))
  for (const { key, count, over } of shown) {
    expect(count).toBeGreaterThanOrEqual(truth.get(key)!)
    expect(count - over).toBeLessThanOrEqual(truth.get(key)!)
  }
})
