import { describe, expect, test } from 'vitest'
import { DOWN, type Limits, outageWorld } from '../../fixtures/limiter/outage-world.ts'
import { flush, pass } from '../../fixtures/limiter/passing-time.ts'
import { type Decision, fixedWindow, type OnOutage } from '../../index.ts'

const inShard = (shard: number) => (key: string) => `${shard}${key}`

/** `far` is decided by the store; the shard of `near` is down. */
function half(onOutage: OnOutage, more: Limits = {}) {
  const made = outageWorld({ far: { key: inShard(0) }, near: { key: inShard(1), onOutage }, ...more })
  made.store.set(DOWN, 1)
  return made
}

describe('all or nothing, with one shard of the store down', () => {
  test.each<[OnOutage, passed: number]>([
    ['local', 3],
    ['open', 5],
    ['closed', 0],
  ])('%s lets %d through, and the store counts just these', async (onOutage, passed) => {
    const { limiter, stored } = half(onOutage)
    const decisions: Decision[] = []
    for (let i = 0; i < 8; i++) decisions.push(await limiter.consume('a'))
    await flush()
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(passed)
    expect(stored('far', '0a')).toBe(passed)
  })

  test('what the store had taken for a request that is refused is not said to be used', async () => {
    const { limits } = await half('closed').limiter.consume('a')
    expect(limits.map(({ name, allowed, remaining }) => [name, allowed, remaining])).toEqual([
      ['far', true, 5],
      ['near', false, 0],
    ])
  })

  test('what the store refuses takes nothing here', async () => {
    const { limiter, elsewhere } = half('local')
    elsewhere('far').consume('0a', { cost: 5 })
    for (let i = 0; i < 10; i++) {
      expect(await limiter.consume('a')).toMatchObject({ allowed: false, policy: 'far', reason: 'limited' })
    }
    elsewhere('far').reset('0a')
    expect(await limiter.consume('a', { cost: 3 })).toMatchObject({ allowed: true, degraded: 'local' })
  })

  test('several local limits are decided together', async () => {
    const { store, limiter } = outageWorld({
      small: { policy: fixedWindow({ limit: 2, window: '1h' }), key: inShard(1) },
      big: { key: () => '1' },
    })
    store.set(DOWN, 1)
    expect((await limiter.consume('a')).allowed).toBe(true)
    for (let i = 0; i < 10; i++) expect(await limiter.consume('a')).toMatchObject({ allowed: false, policy: 'small' })
    expect((await limiter.peek('b')).limits.map(({ remaining }) => remaining)).toEqual([1, 2])
  })

  test('of those that refuse the one that frees last binds, wherever it was decided, and the times are its own', async () => {
    const { store, limiter, clock } = outageWorld({
      far: { key: inShard(0), policy: fixedWindow({ limit: 1, window: '10s' }) },
      near: { key: inShard(1), policy: fixedWindow({ limit: 1, window: '1m' }) },
    })
    store.set(DOWN, 1)
    await limiter.consume('a')
    clock.advance(500)
    expect(await limiter.consume('a')).toMatchObject({ policy: 'near', at: 1500, retryAfterMs: 58_500 })
    clock.advance(9000)
    expect(await limiter.consume('a')).toMatchObject({ policy: 'near', at: 10_500, retryAfterMs: 49_500 })
  })

  test('a store that cannot take its part back is not waited for, and takes it back when it can', async () => {
    const { clock, store, limiter, stored } = half('closed')
    const decided = limiter.consume('a')
    await Promise.resolve().then(() => store.set(DOWN, 0))
    expect((await decided).allowed).toBe(false)
    await flush()
    expect(stored('far', '0a')).toBe(1)
    store.set('up')
    await pass(clock, 1000)
    expect(stored('far', '0a')).toBe(0)
  })
})

describe('shadows', () => {
  const shadows: Limits = {
    beside: { mode: 'shadow', key: inShard(2) },
    instead: { mode: 'shadow', replaces: 'near', key: inShard(0) },
    here: { mode: 'shadow', replaces: 'near', key: inShard(1) },
  }

  test.each<[OnOutage, near: number]>([
    ['open', 5],
    ['local', 2],
  ])('are charged where the request passes: %s', async (onOutage, near) => {
    const { limiter, stored } = half(onOutage, shadows)
    expect((await limiter.consume('a')).allowed).toBe(true)
    await flush()
    expect([stored('far', '0a'), stored('beside', '2a'), stored('instead', '0a')]).toEqual([1, 1, 1])
    const { limits } = await limiter.peek('a')
    expect(Object.fromEntries(limits.map(({ name, remaining }) => [name, remaining]))).toMatchObject({ near, here: 2 })
  })

  test('in place of the limit that refuses are charged; those beside it are not', async () => {
    const { limiter, stored } = half('closed', shadows)
    expect((await limiter.consume('a')).allowed).toBe(false)
    await flush()
    expect([stored('far', '0a'), stored('beside', '2a'), stored('instead', '0a')]).toEqual([0, 0, 1])
    expect((await limiter.peek('a')).limits.find(({ name }) => name === 'here')).toMatchObject({ remaining: 2 })
  })

  test('in place of a local limit that refuses are charged too', async () => {
    const { limiter, stored } = half('local', shadows)
    for (let i = 0; i < 3; i++) await limiter.consume('a')
    expect((await limiter.consume('a')).allowed).toBe(false)
    await flush()
    expect([stored('far', '0a'), stored('beside', '2a'), stored('instead', '0a')]).toEqual([3, 3, 4])
  })
})
