import { concurrency, createLimiter } from 'sluice'
import { fakeClock, storeSuite } from 'sluice/testing'
import { expect, test } from 'vitest'
import { mapStore } from './map-store.ts'

const cases = storeSuite(options => mapStore(options))

test.each(cases.map(({ name, run }) => [name, run] as const))('%s', { timeout: 60_000 }, async (_, run) => run())

test('no case is skipped', () => {
  expect(cases.filter(({ skip }) => skip !== undefined)).toEqual([])
})

test('a key that is full again is forgotten; one with a slot, a reservation or a block stays', () => {
  const clock = fakeClock()
  const store = mapStore({ clock })
  const rate = createLimiter({ store, limits: { rate: { policy: '10/m', key: keyOf, blockFor: '1d' } } })
  const running = createLimiter({
    store,
    limits: { running: { policy: concurrency({ limit: 5, ttl: '1d' }), key: keyOf } },
  })
  for (let i = 0; i < 1000; i++) rate.consume(`user:${i}`)
  running.consume('with a slot')
  rate.reserve('with a reservation', { cost: 3, ttl: '1d' })
  rate.block('blocked', { for: '1d' })
  expect(store.size).toBe(1003)
  clock.advance(3_600_000)
  for (let i = 0; i < 1000; i++) rate.consume('again and again', { cost: 0 })
  expect(store.size).toBeLessThan(10)
  expect(running.inspect('with a slot')[0]?.remaining).toBe(4)
  expect(rate.peek('with a reservation').remaining).toBe(7)
  expect(rate.peek('blocked').allowed).toBe(false)
})

test('a charge from before a reset is not refunded from what the key has used since', () => {
  const clock = fakeClock()
  const limiter = createLimiter({ store: mapStore({ clock }), limits: { user: { policy: '10/m', key: keyOf } } })
  const before = limiter.consume('42', { cost: 10 })
  limiter.reset('42')
  for (let i = 0; i < 10; i++) limiter.peek('42')
  limiter.consume('42', { cost: 10 })
  limiter.refund(before)
  expect(limiter.peek('42').remaining).toBe(0)
})

function keyOf(user: string): string {
  return user
}
