import { describe, expect, test } from 'vitest'
import { fiveOfEach } from '../fixtures/limiter/five-of-each.ts'
import { createLimiter, fixedWindow } from '../index.ts'
import { fakeClock } from '../testing/index.ts'

test.each(fiveOfEach)('a reset makes one subject full again and leaves the others: $kind', policy => {
  const limiter = createLimiter(policy, { clock: fakeClock() })
  for (const subject of ['a', 'b']) limiter.consume(subject, { cost: 5 })
  limiter.reset('a')
  expect(limiter.peek('a')).toMatchObject({ allowed: true, remaining: 5, resetAfterMs: 0 })
  expect(limiter.peek('b')).toMatchObject({ allowed: false, remaining: 0 })
})

describe('with several limits, a reset', () => {
  interface Call {
    user?: string
    ip: string
  }
  const used = () => {
    const limiter = createLimiter<Call>({
      clock: fakeClock(),
      limits: {
        global: { policy: '100/m' },
        ip: { policy: '50/m', key: c => c.ip },
        user: { policy: '5/m', key: c => c.user },
      },
    })
    limiter.consume({ ip: 'x', user: 'u' }, { cost: 5 })
    const left = () => limiter.peek({ ip: 'x', user: 'u' }).limits.map(({ remaining }) => remaining)
    return { limiter, left }
  }
  const caller = { ip: 'x', user: 'u' }

  test.each<[what: string, subject: Call, names: string[] | undefined, left: number[]]>([
    ['leaves limits without a key alone', caller, undefined, [95, 50, 5]],
    ['reaches only the named', caller, ['user'], [95, 45, 5]],
    ['reaches a limit without a key if named', caller, ['global', 'ip'], [100, 50, 0]],
    ['passes by those that do not apply', { ip: 'x' }, undefined, [95, 50, 0]],
  ])('%s', (_, subject, names, expected) => {
    const { limiter, left } = used()
    limiter.reset(subject, names && { limits: names })
    expect(left()).toEqual(expected)
  })

  test('reaches shadows and limits that are off', () => {
    const { limiter, left } = used()
    limiter.setMode('user', 'off')
    limiter.setMode('ip', 'shadow')
    limiter.reset(caller)
    limiter.setMode('user', 'enforce')
    expect(left()).toEqual([95, 50, 5])
  })
})

test('a reset lifts a block and forgets how often there was one', () => {
  const clock = fakeClock()
  const limiter = createLimiter<object>({
    clock,
    limits: {
      only: { policy: fixedWindow({ limit: 1, window: '1s' }), key: () => 'k', blockFor: { first: '1m', factor: 10 } },
    },
  })
  const refused = () => [limiter.consume({}), limiter.consume({})][1]!.retryAfterMs
  expect(refused()).toBe(60_000)
  clock.advance(60_000)
  expect(refused()).toBe(600_000)
  limiter.reset({})
  expect(limiter.peek({}).allowed).toBe(true)
  expect(refused()).toBe(60_000)
})
