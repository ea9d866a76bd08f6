import { beforeEach, describe, expect, test } from 'vitest'
import { bareStore, Counter } from '../../../fixtures/redis/counter.ts'
import { client, withOwnServer } from '../../../fixtures/redis/own-server.ts'
import { AT_ONCE, PLAIN_LIMITS, playPlainCalls, SET_BACK, setBack } from '../../../fixtures/redis/plain-calls.ts'
import { askStore } from '../../../fixtures/stores/ask-store.ts'
import { fixedWindow, slidingWindow, tokenBucket } from '../../../index.ts'
import type { Charge } from '../../charge.ts'
import { TAKE } from '../../store.ts'

withOwnServer()

beforeEach(async () => {
  await client.flushall()
})

describe.each([1, 2, 3])('calls of plain decisions get the verdicts of the memory store, trace %i', seed => {
  test.each(PLAIN_LIMITS)('$says', limits => playPlainCalls(client, limits, { seed, turns: 300 }))
})

describe.each(AT_ONCE)('%i at a time, over limits to the number of %i', (...each) => {
  test.each(SET_BACK)('a clock that was set back, and forgotten, gives a plain $kind nothing', policy =>
    setBack(client, policy, each),
  )
})

const POLICIES = [
  tokenBucket({ capacity: 5, refill: '1/h' }),
  fixedWindow({ limit: 5, window: '1h' }),
  slidingWindow({ limit: 5, window: '1h' }),
]

test('a foreign value under one of several limits is at fault alone, and the decision takes what it can', async () => {
  const store = bareStore(client)
  const counters = POLICIES.map((policy, i) => new Counter(store, policy, `limit ${i}`))
  const ask = async (user: string): Promise<Charge[]> => {
    const charges = counters.map(counter => counter.charge(user))
    await askStore(store, charges, TAKE)
    return charges
  }
  await client.set(counters[1]!.nameOf('b'), 'not ours')
  const decisions = await Promise.all(['a', 'b', 'c', 'a'].map(ask))
  expect(decisions.map(charges => charges.map(({ fault, remaining }) => fault?.code ?? remaining))).toEqual([
    [4, 4, 4],
    [4, 'SLUICE_FOREIGN_VALUE', 4],
    [4, 4, 4],
    [3, 3, 3],
  ])
  expect(await client.get(counters[1]!.nameOf('b'))).toBe('not ours')
})

test('a key that two charges of a decision have in common goes the long way', async () => {
  const store = bareStore(client)
  const counter = new Counter(store, POLICIES[1]!, 'twice')
  const charges = [counter.charge('a'), counter.charge('a')]
  await askStore(store, charges, TAKE)
  expect(charges.map(({ taken, fault }) => fault ?? taken)).toEqual([true, true])
})

test('a call of as many decisions as there can be, all about one user, is told apart', async () => {
  const store = bareStore(client)
  const policies = [fixedWindow({ limit: 50, window: '1h' }), tokenBucket({ capacity: 45, refill: '1/d' })]
  const counters = policies.map((policy, i) => new Counter(store, policy, `many ${i}`))
  const taken = await Promise.all(
    Array.from({ length: 64 }, async () => {
      const charges = counters.map(counter => counter.charge('a'))
      await askStore(store, charges, TAKE)
      return charges.map(charge => charge.taken)
    }),
  )
  expect(taken).toEqual(Array.from({ length: 64 }, (_, n) => [n < 45, n < 45]))
  expect(store.counters.calls).toBe(1)
})
