import { expect, test } from 'vitest'
import { createLimiter, fixedWindow, type ObservedDecision } from '../index.ts'
import { fakeClock } from '../testing/index.ts'

const policy = fixedWindow({ limit: 1, window: '1s' })

function observed() {
  const first: ObservedDecision[] = []
  const second: ObservedDecision[] = []
  const clock = fakeClock()
  const limiter = createLimiter<{ user: string; vip: boolean }>({
    clock,
    limits: {
      user: { policy, key: ({ user }) => user },
      all: { policy: '100/s', mode: 'off' },
      plain: { policy: '100/s', key: ({ user }) => user, mode: ({ vip }) => (vip ? 'off' : 'enforce') },
    },
    onDecision: decision => void first.push(decision as ObservedDecision),
    observers: [decision => void second.push(decision)],
  })
  return { limiter, clock, first, second }
}

test('all observers see the decision itself, with the keys of its limits and the names of those that are off', () => {
  const { limiter, first, second } = observed()
  const decision = limiter.consume({ user: 'ann', vip: true })
  expect([first, second]).toEqual([[decision], [decision]])
  expect(second[0]).toBe(decision)
  expect([second[0]!.keys, second[0]!.off]).toEqual([['ann'], ['all', 'plain']])
  limiter.consume({ user: 'bob', vip: false })
  expect([second[1]!.keys, second[1]!.off]).toEqual([['bob', 'bob'], ['all']])
})

test('keys are neither in the JSON of a decision nor printed', async () => {
  const { limiter, second } = observed()
  limiter.consume({ user: 'ann@example.com', vip: false })
  const { inspect } = await import('node:util')
  expect(JSON.stringify(second) + inspect(second)).not.toContain('ann@')
})

test('one who waited is seen once, when the wait is over', async () => {
  const { limiter, clock, second } = observed()
  limiter.consume({ user: 'ann', vip: true })
  const waited = limiter.wait({ user: 'ann', vip: true })
  await new Promise(resolve => setImmediate(resolve))
  clock.advance(1000)
  const decision = await waited
  expect(second.slice(1)).toEqual([decision])
  expect(second[1]!.off).toEqual(['all', 'plain'])
})

test('peek is not observed', () => {
  const { limiter, second } = observed()
  limiter.peek({ user: 'ann', vip: false })
  expect(second).toEqual([])
})
