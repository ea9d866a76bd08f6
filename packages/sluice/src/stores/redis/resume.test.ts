import { afterEach, expect, test } from 'vitest'
import { client, withOwnServer } from '../../fixtures/redis/own-server.ts'
import { createLimiter, tokenBucket } from '../../index.ts'
import { redisStore } from './index.ts'

withOwnServer()

const POLICY = tokenBucket({ capacity: 1000, refill: '1/h' })
const stores: { close(): Promise<void> }[] = []

afterEach(() => Promise.all(stores.splice(0).map(store => store.close())))

function process() {
  const store = redisStore(client)
  stores.push(store)
  return createLimiter(POLICY, { name: 'resumed', store })
}

test('what one process reserved another settles, once', async () => {
  const [here, there] = [process(), process()]
  const reservation = await here.reserve('a', { cost: 600, ttl: '1m' })
  const saved = JSON.parse(JSON.stringify(reservation.save()))
  expect((await there.peek('a')).remaining).toBe(400)
  expect(await there.resume(saved).settle(50)).toEqual({ reserved: 600, charged: 50, overdrawn: false })
  expect((await here.peek('a')).remaining).toBe(950)
  expect(await there.resume(saved).settle(0)).toEqual({ reserved: 600, charged: 50, overdrawn: false })
  expect((await here.peek('a')).remaining).toBe(950)
})

test('one of cost 0 is charged once, though the key had been reset before', async () => {
  const [here, there] = [process(), process()]
  await here.consume('zero')
  await here.reset('zero')
  const saved = (await here.reserve('zero', { cost: 0, ttl: '1m' })).save()
  for (const _ of [1, 2]) expect((await there.resume(saved).settle(50)).charged).toBe(50)
  expect((await here.peek('zero')).remaining).toBe(950)
  const lost = (await here.reserve('zero', { cost: 0, ttl: '1m' })).save()
  await here.reset('zero')
  expect((await there.resume(lost).settle(50)).charged).toBe(0)
})

test('cancelled elsewhere is as if it had never been', async () => {
  const reservation = await process().reserve('b', { cost: 600, ttl: '1m' })
  await process().resume(reservation.save()).cancel()
  expect((await process().peek('b')).remaining).toBe(1000)
})

test('a store in one process cannot be shared', () => {
  const limiter = createLimiter(POLICY)
  const reservation = limiter.reserve('a', { cost: 1, ttl: '1m' })
  expect(() => reservation.save()).toThrow('SLUICE_NOT_SUPPORTED')
  expect(() => limiter.resume({ cost: 1, charges: [] })).toThrow('SLUICE_NOT_SUPPORTED')
})
