import { describe, expect, test } from 'vitest'
import { crowd, refusedOf, START, world } from '../fixtures/client/world.ts'
import { fixedWindow, memoryStore, tokenBucket } from '../index.ts'
import { random } from '../testing/index.ts'
import { createFetch } from './index.ts'

const OK = (_: unknown, response: { end(text: string): void }) => void response.end('served')

/** Refuses the first `times` requests with these fields, then serves. */
function refusing(status: number, fields: Record<string, string>, times = 1) {
  let left = times
  return world((_, response) => {
    if (left-- <= 0) return void response.end('served')
    response.writeHead(status, fields).end('refused')
  })
}

test('several rates of its own hold together', async () => {
  const { client, url, play, arrivals } = await world(OK)
  const get = client({ policy: ['1/s', '2/10s'] })
  await play(Promise.all([1, 2, 3].map(() => get(url))))
  expect(arrivals.map(({ at }) => at)).toEqual([0, 1000, 10_000])
})

describe('a refusal', () => {
  test.each([
    ['seconds', '7', 7000],
    ['a date', new Date(START + 7000).toUTCString(), 7000],
    ['a fraction', '2.5', 2500],
    ['0', '0', 0],
  ])('with Retry-After as %s is obeyed, and never retried before', async (_, value, ms) => {
    const { client, url, play, arrivals } = await refusing(429, { 'Retry-After': value })
    const response = await play(client()(url))
    expect(await response.text()).toBe('served')
    expect(arrivals.map(({ at }) => at)).toEqual([0, ms])
  })

  test('only ever has jitter added to what the server said', async () => {
    const { client, url, play, arrivals } = await refusing(429, { 'Retry-After': '10' })
    await play(client({ random: () => 0.999 })(url))
    expect(arrivals[1]!.at).toBeGreaterThanOrEqual(10_000)
    expect(arrivals[1]!.at).toBeLessThanOrEqual(11_100)
  })

  test('pauses the queue, not one call', async () => {
    const { client, url, play, arrivals, idle } = await refusing(429, { 'Retry-After': '5' })
    const get = client()
    const first = get(url)
    await idle()
    await play(Promise.all([first, ...Array.from({ length: 5 }, () => get(url))]))
    expect(arrivals.filter(({ at }) => at < 5000).length).toBe(1)
    expect(arrivals.length).toBe(7)
  })

  test('without a time is retried by full jitter, that grows with every refusal', async () => {
    const { client, url, play, arrivals } = await refusing(429, {}, 3)
    await play(client({ random: () => 0.999, backoff: { base: '1s' } })(url))
    const gaps = arrivals.slice(1).map(({ at }, i) => Math.round((at - arrivals[i]!.at) / 1000))
    expect(gaps).toEqual([1, 2, 4])
  })

  test('that would take longer than allowed is handed over at once, and later calls say how long', async () => {
    const { client, url, arrivals, events } = await refusing(429, { 'Retry-After': '600' })
    const get = client({ maxWait: '1m' })
    expect((await get(url)).status).toBe(429)
    await expect(get(url)).rejects.toMatchObject({
      name: 'CallRefused',
      code: 'SLUICE_WAIT_TOO_LONG',
      retryAfterMs: 600_000,
    })
    expect(arrivals.length).toBe(1)
    expect(events.find(({ type }) => type === 'gave-up')).toMatchObject({ because: 'wait', status: 429 })
  })

  test('is handed over with its body when the retries are used up', async () => {
    const { client, url, play, arrivals } = await refusing(429, { 'Retry-After': '1' }, 10)
    const response = await play(client({ maxRetries: 2 })(url))
    expect([response.status, await response.text(), arrivals.length]).toEqual([429, 'refused', 3])
  })
})

describe('what may be sent again', () => {
  const body = JSON.stringify({ amount: 5 })
  const stream = () => new Blob([body]).stream()
  const key = { 'Idempotency-Key': 'a' }
  test.each<[what: string, status: number, init: RequestInit & { duplex?: 'half' }, requests: number]>([
    ['a refused POST', 429, { method: 'POST', body }, 2],
    ['a refused POST of a stream', 429, { method: 'POST', body: stream(), duplex: 'half' }, 1],
    ['a failed GET', 503, {}, 2],
    ['a failed PUT', 502, { method: 'PUT', body }, 2],
    ['a failed POST', 500, { method: 'POST', body }, 1],
    ['a failed POST with a key', 500, { method: 'POST', body, headers: key }, 2],
    ['a failed PATCH', 504, { method: 'PATCH', body }, 1],
    ['a request that is wrong', 400, {}, 1],
    ['one that is forbidden', 403, {}, 1],
  ])('%s answered %d', async (_, status, init, requests) => {
    const { client, url, play, arrivals } = await refusing(status, {})
    const response = await play(client()(url, init))
    expect(arrivals.length).toBe(requests)
    expect(response.status).toBe(requests === 1 ? status : 200)
    expect(new Set(arrivals.map(arrival => arrival.body)).size).toBe(1)
  })

  test('the server itself may say', async () => {
    const { client, url, play, arrivals } = await refusing(409, {})
    await play(client()(url))
    expect(arrivals.length).toBe(1)
    const stripe = await refusing(500, { 'Stripe-Should-Retry': 'true' })
    await stripe.play(stripe.client()(stripe.url, { method: 'POST', body: 'a' }))
    expect(stripe.arrivals.length).toBe(2)
    const openai = await refusing(503, { 'x-should-retry': 'false' })
    expect((await openai.play(openai.client()(openai.url))).status).toBe(503)
  })

  test('a Request without a body is sent again, one with a body is not', async () => {
    const { client, url, play, arrivals } = await refusing(429, { 'Retry-After': '1' })
    expect((await play(client()(new Request(url)))).status).toBe(200)
    const other = await refusing(429, { 'Retry-After': '1' })
    expect((await other.play(other.client()(new Request(other.url, { method: 'POST', body })))).status).toBe(429)
    expect([arrivals.length, other.arrivals.length]).toEqual([2, 1])
  })

  test('retries are a fifth of the calls and ten a second, and no more', async () => {
    const { client, url, play, arrivals, events } = await world((_, response) => void response.writeHead(500).end())
    const get = client({ backoff: { base: '1ms', cap: '1ms' }, maxRetries: 10 })
    await play(
      crowd(10, 100, () => get(url)),
      { stepMs: 1 },
    )
    const retries = arrivals.length - 1000
    expect(retries).toBeLessThanOrEqual(100 + 0.2 * 1000 + 10 * 10)
    expect(retries).toBeGreaterThan(200)
    expect(events.some(event => event.type === 'gave-up' && event.because === 'budget')).toBe(true)
  })

  test('a connection that breaks is tried again', async () => {
    let broken = 0
    const { client, url, play, arrivals } = await world((request, response) => {
      if (broken++ === 0) request.socket.destroy()
      else response.end('served')
    })
    expect((await play(client()(url))).status).toBe(200)
    expect(arrivals.length).toBe(2)
  })
})

describe('a policy of your own', () => {
  test('is kept by calls that share a store, each waiting its turn', async () => {
    const { client, url, play, arrivals, clock } = await world(OK)
    const shared = { policy: tokenBucket({ capacity: 2, refill: '1/s' }), store: memoryStore({ clock }) }
    const [one, other] = [client(shared), client(shared)]
    await play(Promise.all([one(url), other(url), one(url), other(url)]))
    expect(arrivals.map(({ at }) => at)).toEqual([0, 0, 1000, 2000])
  })

  test('refuses at once a call that would wait too long, and says how long', async () => {
    const { client, url, play } = await world(OK)
    const get = client({ policy: fixedWindow({ limit: 1, window: '1h' }), maxWait: '10s' })
    await play(get(url))
    await expect(get(url)).rejects.toMatchObject({ code: 'SLUICE_WAIT_TOO_LONG', retryAfterMs: 3_600_000 })
  })
})

describe('a call that is called off', () => {
  test('before it starts rejects with the reason', async () => {
    const { client, url, arrivals } = await world(OK)
    await expect(client()(url, { signal: AbortSignal.abort('gone') })).rejects.toBe('gone')
    expect(arrivals.length).toBe(0)
  })

  test('while it waits rejects, and the others still get through', async () => {
    const { client, url, play, arrivals, idle } = await refusing(429, { 'Retry-After': '5' })
    const get = client()
    const abort = new AbortController()
    const first = get(url)
    await idle()
    const left = get(url, { signal: abort.signal })
    abort.abort('gone')
    await expect(left).rejects.toBe('gone')
    expect((await play(first)).status).toBe(200)
    expect(arrivals.length).toBe(2)
  })

  test('by its deadline, also in the middle of a request', async () => {
    const { client, url, play } = await world(() => {})
    const call = client({ deadline: '5s' })(url)
    await expect(play(call, { evenUnderWay: true })).rejects.toMatchObject({ name: 'TimeoutError' })
  })

  test('is never sent if it could only be after its deadline', async () => {
    const { client, url, play, arrivals } = await refusing(429, { 'Retry-After': '30' })
    expect((await play(client({ deadline: '5s' })(url))).status).toBe(429)
    expect(arrivals.length).toBe(1)
  })
})

describe('the fields of a response', () => {
  test('from a cache hold nobody back', async () => {
    const { client, url, play, arrivals } = await world((_, response) => {
      response.writeHead(200, { Age: '30', RateLimit: '"default";r=0;t=60' }).end('cached')
    })
    const get = client()
    await play(crowd(1, 5, () => get(url)))
    expect(arrivals.at(-1)!.at).toBe(0)
  })

  test('of one origin hold nobody back who asks another', async () => {
    const slow = await refusing(429, { 'Retry-After': '50' })
    const other = await world(OK)
    const get = slow.client({ maxWait: 0 })
    await get(slow.url)
    expect((await get(other.url)).status).toBe(200)
  })
})

test('a spinner hears of waits in one line', async () => {
  const { client, url, play } = await refusing(429, { 'Retry-After': '5' })
  const waits: number[] = []
  await play(client({ onWait: ms => waits.push(ms) })(url))
  expect(waits).toEqual([5000])
})

test('the adaptive throttle stops sending most of what a server refuses, and starts again when it accepts', async () => {
  let healthy = false
  const { client, url, arrivals, clock } = await world((_, response) => {
    response.writeHead(healthy ? 200 : 503).end()
  })
  const get = client({ adaptiveThrottle: { k: 2 }, maxRetries: 0, random: random(1) })
  const tries = async (count: number) => {
    for (let i = 0; i < count; i++) await get(url).catch(() => {})
  }
  await tries(200)
  expect(refusedOf(arrivals)).toBeLessThan(60)
  healthy = true
  clock.advance(600_000)
  const before = arrivals.length
  await tries(200)
  expect(arrivals.length - before).toBeGreaterThan(150)
})

test.each<[what: string, options: unknown]>([
  ['an option nobody knows', { maxRetry: 3 }],
  ['a negative count', { maxRetries: -1 }],
  ['a wait that is no duration', { maxWait: 'soon' }],
  ['a store without a policy', { store: memoryStore() }],
  ['a fetch that is no function', { fetch: 'no' }],
  ['a throttle that sends nothing', { adaptiveThrottle: { k: 0 } }],
  ['no object', null],
])('refuses %s', (_, options) => {
  expect(() => createFetch(options as never)).toThrow(
    expect.objectContaining({ code: expect.stringMatching(/^SLUICE_BAD_/) }),
  )
})
