import { expect, test } from 'vitest'
import { bareStore, Counter } from '../../../fixtures/redis/counter.ts'
import { client, withOwnServer } from '../../../fixtures/redis/own-server.ts'
import { timedStore } from '../../../fixtures/redis/timed-store.ts'
import { fixedWindow, tokenBucket } from '../../../index.ts'
import { fakeClock } from '../../../testing/index.ts'
import { ofEveryRateKind } from '../../../testing/store-suite/policies.ts'

withOwnServer()

const HOUR = 3_600_000_000
const FIVE = fixedWindow({ limit: 5, window: '1h', align: 'first' })
/** The server's own time, in ticks. */
async function serverNow(): Promise<number> {
  const [seconds, microseconds] = await client.time()
  return Number(seconds) * 1_000_000 + Number(microseconds)
}

async function setClockKey(name: string, at: number): Promise<void> {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(at)
  await client.set(name, bytes)
}

test("a decision is made at the server's time", async () => {
  const before = await serverNow()
  const { at } = await new Counter(bareStore(client), FIVE, 'now').take('a')
  expect(at).toBeGreaterThanOrEqual(before)
  expect(at).toBeLessThanOrEqual(await serverNow())
})

test.each([
  ['the past', 1],
  ['the future', 2e15],
  ['nonsense', Number.NaN],
])('a client that sends a time of its own, from %s, is not listened to', async (name, time) => {
  const before = await serverNow()
  const store = bareStore(client, { testNow: () => time, prefix: `liar ${name}` })
  const counter = new Counter(store, FIVE, `lies from ${name}`)
  const charges = await Promise.all(Array.from({ length: 6 }, () => counter.take('a')))
  expect(charges.map(charge => charge.allowed)).toEqual([true, true, true, true, true, false])
  for (const { at } of charges) expect(Math.abs(at - before)).toBeLessThan(10_000_000)
})

test('a server whose clock is set back goes on from the latest time it has seen', async () => {
  const back: number[] = []
  const store = bareStore(client, { prefix: 'back', onSetBack: ticks => back.push(ticks) })
  const counter = new Counter(store, tokenBucket({ capacity: 2, refill: '1/s' }), 'back')
  const before = await serverNow()
  await setClockKey('{0}back:clock', before + HOUR)
  const charges = [await counter.take('a'), await counter.take('a'), await counter.take('a')]
  expect(charges.map(({ allowed }) => allowed)).toEqual([true, true, false])
  expect(back).toHaveLength(1)
  const after = await serverNow()
  for (const { at } of charges) {
    expect(at).toBeGreaterThanOrEqual(before + HOUR)
    expect(at).toBeLessThanOrEqual(after + back[0]!)
  }
})

test('the latest time is written down', async () => {
  const counter = new Counter(bareStore(client, { prefix: 'clock' }), FIVE, 'clock')
  const written = async () => (await client.getBuffer('{0}clock:clock'))?.readDoubleLE() ?? 0
  const first = await counter.take('a')
  expect(await written()).toBe(first.at)
  await setClockKey('{0}clock:clock', first.at - HOUR)
  const second = await counter.take('a')
  expect(await written()).toBe(second.at)
})

test.each(ofEveryRateKind(10, 100).map(policy => [policy.kind, policy] as const))(
  'a clock that wobbles between two writings of the latest time admits nothing extra: %s',
  async (_, policy) => {
    const clock = fakeClock(1_790_000_000_090)
    const store = timedStore(client, clock, { prefix: 'wobble' })
    const counter = new Counter(store, policy, `wobble ${JSON.stringify(policy)}`)
    let admitted = 0
    for (let n = 0; n < 40; n++) {
      // The server writes it every 50 ms; for tests each tick, so it is taken away.
      await client.del('{0}wobble:clock')
      clock.set(1_790_000_000_090 - (n % 4 === 3 ? 40 : 0))
      if ((await counter.take('a')).allowed) admitted++
    }
    expect(admitted).toBe(10)
  },
)
