import axios, { type AxiosResponse, type InternalAxiosRequestConfig } from 'axios'
import got from 'got'
import ky from 'ky'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import * as providers from '../fixtures/client/providers.ts'
import { refusedOf, world } from '../fixtures/client/world.ts'
import { createLimiter, tokenBucket } from '../index.ts'
import { readRateLimit } from './index.ts'

/** A server that refuses once for five seconds. */
const refusingOnce = () => {
  let refusals = 1
  return world((_, response) => {
    if (refusals-- > 0) response.writeHead(429, { 'Retry-After': '5' }).end()
    else response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"served":true}')
  })
}

describe('other clients wait through the same fetch', () => {
  test('ky, by its option fetch', async () => {
    const { client, url, play, arrivals } = await refusingOnce()
    const api = ky.create({ fetch: client(), retry: 0 })
    expect(await play(api.get(url).json())).toEqual({ served: true })
    expect(arrivals[1]!.at).toBe(5000)
  })

  test('the OpenAI client, by its option fetch', async () => {
    let answer: ReturnType<providers.Provider> | undefined
    const { client, url, play, arrivals } = await world((_, response, arrival, clock) => {
      answer ??= providers.openai(clock)
      answer(arrival, response)
    })
    const openai = new OpenAI({ apiKey: 'key', baseURL: url, fetch: client({ maxWait: '5m' }), maxRetries: 0 })
    const ask = () => openai.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
    const answers = await play(Promise.all(Array.from({ length: 25 }, ask)))
    expect(answers.every(({ choices }) => choices[0]!.message.content === 'hello')).toBe(true)
    // Nothing is known before the first answer, so that more than ten may be sent; from then on, none is refused.
    expect(refusedOf(arrivals)).toBeLessThanOrEqual(15)
  })

  test('axios, by its adapter fetch', async () => {
    const { client, url, play, arrivals } = await refusingOnce()
    const api = axios.create({ adapter: 'fetch', env: { fetch: client() } })
    const response: AxiosResponse = await play(api.get(url))
    expect(response.data).toEqual({ served: true })
    expect(arrivals[1]!.at).toBe(5000)
  })

  test("axios, by an adapter of one's own", async () => {
    const { client, url, play } = await refusingOnce()
    const limited = client()
    const adapter = async (config: InternalAxiosRequestConfig): Promise<AxiosResponse> => {
      const response = await limited(config.url!, { method: (config.method ?? 'get').toUpperCase() })
      const headers = Object.fromEntries(response.headers)
      return { data: await response.text(), status: response.status, statusText: response.statusText, headers, config }
    }
    expect((await play(axios.get(url, { adapter }))).data).toEqual({ served: true })
  })

  test('got, by a hook before a request and by the delay before a retry', async () => {
    let refusals = 1
    const { url, arrivals } = await world((_, response) => {
      if (refusals-- > 0) response.writeHead(429, { 'Retry-After': '0.02' }).end()
      else response.end('served')
    })
    const limiter = createLimiter(tokenBucket({ capacity: 10, refill: '100/s' }))
    const delays: number[] = []
    const api = got.extend({
      hooks: { beforeRequest: [async ({ url }) => void (await limiter.wait(String(url)))] },
      retry: {
        calculateDelay({ error, computedValue }) {
          const retryAt = error.response && readRateLimit(error.response, { now: 0 }).retryAt
          delays.push(retryAt ?? computedValue)
          return retryAt ?? computedValue
        },
      },
    })
    expect((await api.get(url)).body).toBe('served')
    expect([delays, arrivals.length]).toEqual([[20], 2])
  })
})
