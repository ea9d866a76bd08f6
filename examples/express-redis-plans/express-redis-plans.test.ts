import { Redis } from 'ioredis'
import { redisStore } from 'sluice/redis'
import { type RedisServer, startRedis } from 'sluice-harness'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { onLoopback } from '../on-loopback.ts'
import { createApp } from './app.ts'

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

/** One process of the service. On a busy machine the usual deadline would turn a test into an outage. */
function serve(): Promise<string> {
  const client = new Redis(redis.port, redis.host)
  onTestFinished(() => client.disconnect())
  return onLoopback(createApp(redisStore(client, { deadline: '10s' })))
}

function asking(url: string, times: number, headers: Record<string, string> = {}): Promise<Response[]> {
  return Promise.all(Array.from({ length: times }, (_, id) => fetch(url.replace(':id', String(id)), { headers })))
}

const passed = (responses: Response[]) => responses.filter(response => response.status === 200).length

test('two processes let 60 anonymous requests an hour through between them, whatever the id in the path', async () => {
  const [one, other] = [await serve(), await serve()]
  const responses = (await Promise.all([asking(`${one}/orders/:id`, 40), asking(`${other}/orders/:id`, 40)])).flat()
  expect(passed(responses)).toBe(60)

  const forged = await fetch(`${one}/orders/1`, { headers: { 'X-Forwarded-For': '203.0.113.7' } })
  expect(forged.status).toBe(429)
  expect(forged.headers.get('content-type')).toBe('application/problem+json')
  expect(await forged.json()).toMatchObject({
    error: 'rate_limit_exceeded',
    'violated-policies': ['caller'],
    retry_after: Number(forged.headers.get('retry-after')),
  })
})

test.each([
  ['fay', 100],
  ['pat', 1000],
])('%s has the %i requests a minute of the plan, beside those of the address', async (name, quota) => {
  const [response] = await asking(`${await serve()}/orders/1`, 1, { Authorization: `Bearer token-of-${name}` })
  expect(response!.status).toBe(200)
  expect(response!.headers.get('ratelimit-policy')).toBe(`"caller";q=${quota};w=60`)
  expect(response!.headers.get('ratelimit')).toMatch(RegExp(`^"caller";r=${quota - 1};t=\\d+$`))
})

test('searches cost five of a bucket of twenty, and a refused one costs nothing', async () => {
  const url = await serve()
  const responses = await asking(`${url}/search`, 20, { Authorization: 'Bearer token-of-pat' })
  const refused = responses.filter(response => response.status === 429)
  // Four at once; the bucket pays for one more a second, should the machine be that slow.
  expect(passed(responses)).toBeGreaterThanOrEqual(4)
  expect(refused.length).toBeGreaterThan(0)
  expect(await refused[0]!.json()).toMatchObject({ 'violated-policies': ['search'], retry_after: 1 })
})
