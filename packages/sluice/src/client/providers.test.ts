import { describe, expect, test } from 'vitest'
import * as providers from '../fixtures/client/providers.ts'
import { crowd, refusedOf, world } from '../fixtures/client/world.ts'

function at(provider: providers.Provider) {
  let answer: ReturnType<providers.Provider> | undefined
  return world((_, response, arrival, clock) => {
    answer ??= provider(clock)
    answer(arrival, response)
  })
}

test.each([
  ['github', providers.github],
  ['openai', providers.openai],
])('%s refuses none of eight callers: they stop at what remains', async (_, provider) => {
  const { client, url, play, arrivals } = await at(provider)
  const get = client({ maxWait: '10m' })
  const statuses = await play(crowd(8, 6, () => get(`${url}/repos/a/b`)))
  expect(statuses.every(status => status === 200)).toBe(true)
  expect(refusedOf(arrivals)).toBe(0)
})

describe('GitHub', () => {
  test('resources are counted apart: a search does not wait for the core limit', async () => {
    const { client, url, play, clock } = await at(providers.github)
    const get = client({ maxWait: '10m' })
    await play(crowd(1, 20, () => get(`${url}/user`)))
    const before = clock.now()
    await play(crowd(1, 5, () => get(`${url}/search/code`)))
    expect(clock.now()).toBe(before)
  })

  test('a secondary limit pauses everything for a minute, though plenty remains', async () => {
    const { client, url, play, arrivals, events } = await at(providers.githubSecondary)
    const get = client({ maxWait: '10m' })
    await play(crowd(1, 5, () => get(`${url}/user`)))
    expect(events.find(({ type }) => type === 'refused')).toMatchObject({ secondary: true, status: 403 })
    const refusedAt = arrivals.find(({ status }) => status === 403)!.at
    const next = arrivals.find(arrival => arrival.at > refusedAt)!
    expect(next.at - refusedAt).toBeGreaterThanOrEqual(60_000)
    expect(refusedOf(arrivals)).toBe(1)
  })
})

describe('Discord', () => {
  const channel = (n: number) => `/api/v10/channels/${n}/messages`

  test('buckets are learnt: a full channel holds up no other', async () => {
    const { client, url, play, clock, arrivals } = await at(providers.discord)
    const get = client()
    await play(crowd(1, 5, () => get(url + channel(1))))
    const before = clock.now()
    await play(crowd(1, 5, () => get(url + channel(2))))
    expect(clock.now()).toBe(before)
    await play(crowd(4, 3, () => get(url + channel(1))))
    expect(refusedOf(arrivals)).toBe(0)
  })

  test('the global limit pauses all channels', async () => {
    const { client, url, play, arrivals } = await at(providers.discord)
    const get = client()
    for (let n = 0; n < 12; n++) await play(crowd(1, 4, () => get(url + channel(n))))
    await play(crowd(1, 3, () => get(url + channel(20))))
    const global = arrivals.find(({ status }) => status === 429)!
    expect(refusedOf(arrivals)).toBe(1)
    expect(arrivals.filter(({ at }) => at > global.at).every(({ at }) => at >= global.at + 1000)).toBe(true)
  })
})

test.each([
  ['shopify', providers.shopify, 8],
  ['stripe', providers.stripe, 8],
])(
  '%s tells no reset: what it refuses is retried when it may be, and all get through',
  async (_, provider, callers) => {
    const { client, url, play, arrivals } = await at(provider)
    const get = client({ maxWait: '10m', maxRetries: 10, random: () => 0.5 })
    const statuses = await play(crowd(callers, 10, () => get(url)))
    expect(statuses.every(status => status === 200)).toBe(true)
    expect(refusedOf(arrivals)).toBeLessThan(2 * callers * 5)
  },
)
