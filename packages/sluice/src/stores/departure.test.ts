import { expect, test } from 'vitest'
import { ruleOf } from '../algorithms/rule.ts'
import { askStore } from '../fixtures/stores/ask-store.ts'
import { RemoteMemory } from '../fixtures/stores/remote-memory.ts'
import { fixedWindow } from '../index.ts'
import { fakeClock } from '../testing/index.ts'
import { Charge, ENFORCED } from './charge.ts'
import { denyCache } from './remote/deny-cache.ts'
import type { RemoteStore } from './remote/remote-store.ts'
import { resilient } from './remote/resilient.ts'
import { type Store, TAKE } from './store.ts'

const turn = () => new Promise<void>(resolve => setImmediate(resolve))

test.each<[string, (inner: RemoteStore) => Store<'async'>]>([
  ['by itself', inner => inner],
  ['behind a deny cache', inner => denyCache(inner)],
])('the deadline counts from when a store sends what it was asked: %s', async (_, wrapped) => {
  const clock = fakeClock()
  const leave: (() => void)[] = []
  const inner = Object.assign(new RemoteMemory(clock), { atDeparture: (callback: () => void) => leave.push(callback) })
  inner.set('hung')
  const store = resilient(wrapped(inner), inner, { clock, deadlineMs: 25 })
  const rule = ruleOf(fixedWindow({ limit: 10, window: '1h' }))
  const charge = new Charge({ space: store.bind('limit'), block: undefined, atOnce: false }, rule, 'a', 1, ENFORCED)
  const asked = askStore(store, [charge], TAKE)
  await turn()
  clock.advance(100)
  await turn()
  expect(charge.fault).toBeUndefined()
  for (const callback of leave) callback()
  clock.advance(24)
  await turn()
  expect(charge.fault).toBeUndefined()
  clock.advance(1)
  await asked
  expect(charge.fault).toMatchObject({ code: 'SLUICE_STORE_TIMEOUT' })
})
