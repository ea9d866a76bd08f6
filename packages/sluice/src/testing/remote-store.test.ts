import { expect, test } from 'vitest'
import { createLimiter } from '../limiter/create.ts'
import { fixedWindow, slidingLog } from '../policy.ts'
import { fakeClock } from './fake-clock.ts'
import { simulatedStore } from './remote-store.ts'

const settled = async (clock: ReturnType<typeof fakeClock>, ms: number) => {
  clock.advance(ms)
  await Promise.resolve()
}

test('limiters over one store count together, and an answer takes the way there and back', async () => {
  const clock = fakeClock(1e9)
  const store = simulatedStore({ clock, delayMs: 10 })
  const [a, b] = [0, 1].map(() => createLimiter(slidingLog({ limit: 1, window: '1m' }), { store }))
  let answers = 0
  const both = Promise.all([a!.consume('x'), b!.consume('x')].map(answer => answer.finally(() => answers++)))
  await settled(clock, 19)
  expect(answers).toBe(0)
  clock.advance(1)
  expect((await both).map(({ allowed }) => allowed)).toEqual([true, false])
})

test('while it is down each limit decides by its own outage setting, and its state is there afterwards', async () => {
  const clock = fakeClock(1e9)
  const store = simulatedStore({ clock, delayMs: 1 })
  const limiter = createLimiter(slidingLog({ limit: 1, window: '1m' }), { store, onOutage: 'open' })
  const ask = async () => {
    const answer = limiter.consume('x')
    clock.advance(2)
    return answer
  }
  expect((await ask()).allowed).toBe(true)
  store.up = false
  expect(await ask()).toMatchObject({ allowed: true, degraded: 'open' })
  store.up = true
  expect(await ask()).toMatchObject({ allowed: false, degraded: false })
})

test('its own clock decides which window it is', async () => {
  const clock = fakeClock(60_000 * 1000)
  const store = simulatedStore({ clock, delayMs: 0, aheadMs: 59_000 })
  const limiter = createLimiter(fixedWindow({ limit: 5, window: '1m' }), { store })
  const answer = limiter.consume('x')
  clock.advance(0)
  expect((await answer).resetAfterMs).toBe(1000)
})
