import { describe, expect, test } from 'vitest'
import { crowd, world } from '../fixtures/client/world.ts'

const YEAR_S = 31_536_000

describe('a server that means no good', () => {
  test.each<[what: string, fields: Record<string, string>]>([
    ['a negative Retry-After', { 'Retry-After': '-5' }],
    ['a Retry-After that is no number', { 'Retry-After': 'NaN' }],
    ['an infinite Retry-After', { 'Retry-After': 'Infinity' }],
    ['a reset in 1970', { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '1970-01-01T00:00:00Z' }],
    ['10,000 policies', { RateLimit: Array.from({ length: 1000 }, (_, i) => `"p${i}";r=0;t=${YEAR_S}`).join(',') }],
  ])('refuses with %s: that is a refusal without a time', async (_, fields) => {
    let refusals = 1
    const { client, url, play, clock } = await world((__, response) => {
      if (refusals-- > 0) response.writeHead(429, fields).end()
      else response.end('served')
    })
    const before = clock.now()
    const response = await play(client({ random: () => 0.5 })(url))
    expect([response.status, clock.now() - before <= 1000]).toEqual([200, true])
  })

  test('asks for a year: it is told at once, and no timer runs wild', async () => {
    const { client, url, arrivals } = await world((_, response) => {
      response.writeHead(429, { 'Retry-After': `${YEAR_S}` }).end()
    })
    const get = client()
    expect((await get(url)).status).toBe(429)
    await expect(get(url)).rejects.toMatchObject({ retryAfterMs: YEAR_S * 1000 })
    expect(arrivals.length).toBe(1)
  })

  test('says nothing remains for a year, and serves: calls are told at once how long', async () => {
    const { client, url } = await world((_, response) => {
      response.writeHead(200, { RateLimit: `"default";r=0;t=${YEAR_S}` }).end('served')
    })
    const get = client()
    expect((await get(url)).status).toBe(200)
    await expect(get(url)).rejects.toMatchObject({ code: 'SLUICE_WAIT_TOO_LONG' })
  })

  test('drips the body of its refusal: nobody waits for it longer than a second', async () => {
    let refusals = 1
    const { client, url, play } = await world((_, response) => {
      if (refusals-- <= 0) return void response.end('served')
      response.writeHead(429, { 'Content-Type': 'application/json' })
      response.write('{"retry_')
    })
    expect((await play(client()(url))).status).toBe(200)
  })

  test('never answers the first request after a reset: the others follow after a second', async () => {
    let asked = 0
    const { client, url, play, arrivals } = await world((_, response) => {
      const hangs = ++asked === 2
      response.setHeader('RateLimit', '"default";r=0;t=5')
      if (!hangs) response.end('served')
    })
    const get = client()
    await (await get(url)).text()
    const calls = [get(url), get(url)]
    expect((await play(Promise.race(calls), { evenUnderWay: true })).status).toBe(200)
    expect(arrivals.length).toBe(3)
  })

  test('names a new bucket in every answer: memory stays bounded, and calls go on', async () => {
    let n = 0
    const { client, url, play } = await world((_, response) => {
      response.setHeader('X-RateLimit-Bucket', `bucket ${n++}`)
      response.end('served')
    })
    const get = client()
    expect((await play(crowd(4, 100, () => get(`${url}/${n}`)))).length).toBe(400)
  })
})
