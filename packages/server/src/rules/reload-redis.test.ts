import { Redis } from 'ioredis'
import type { Store } from 'sluice'
import { redisStore } from 'sluice/redis'
import { type RlsRequest, rls, rulesLimiter } from 'sluice/rules'
import { type RedisServer, startRedis } from 'sluice-harness'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let server: RedisServer
let client: Redis
let store: Store<'async'>

beforeAll(async () => {
  server = await startRedis()
  client = new Redis({ host: server.host, port: server.port })
  store = redisStore(client, { deadline: '1s' })
})
afterAll(async () => {
  await store.close()
  client.disconnect()
  await server.stop()
})

// The server's own clock decides: windows so long that no test meets the end of one.
describe('over a real Redis, our own rules', () => {
  const user = (limit: object) => ({ limits: { user: { key: 'user', ...limit } } })
  test.each<[string, object, number]>([
    ['a changed number keeps what was used', user({ 'fixed-window': '50/300d' }), 0],
    ['a changed window starts afresh', user({ 'fixed-window': '50/301d' }), 50],
    ['a changed algorithm starts afresh', user({ 'sliding-log': '50/300d' }), 50],
    ['a changed key starts afresh', user({ key: 'account', 'fixed-window': '50/300d' }), 50],
  ])('%s', async (_, again, remaining) => {
    const subject = { user: _, account: _ }
    await rulesLimiter(user({ 'fixed-window': '100/300d' }), { store }).limiter.consume(subject, { cost: 80 })
    expect(await rulesLimiter(again, { store }).limiter.peek(subject)).toMatchObject({ remaining, degraded: false })
  })
})

describe('over a real Redis, files for envoyproxy/ratelimit', () => {
  const service = (rules: Record<string, object>) => {
    const descriptors = Object.entries(rules).map(([key, limit]) => ({ key, rate_limit: limit }))
    const { shouldRateLimit } = rls([{ domain: 'edge', descriptors }], { store })
    return async (hits: number, ...entries: [string, string][]) => {
      const asked = entries.map(([key, value]) => ({ entries: [{ key, value }], hitsAddend: hits }))
      const request: RlsRequest = { domain: 'edge', descriptors: asked }
      const { overall, statuses } = await shouldRateLimit(request)
      return [overall, ...statuses.map(({ limitRemaining }) => limitRemaining)]
    }
  }
  const yearly = (requests_per_unit: number) => ({ unit: 'year', requests_per_unit })

  test('a changed number keeps what was used, a changed unit starts afresh', async () => {
    await service({ kept: yearly(100) })(80, ['kept', 'a'])
    expect(await service({ kept: yearly(50) })(0, ['kept', 'a'])).toEqual(['OVER_LIMIT', 0])
    expect(await service({ kept: { unit: 'month', requests_per_unit: 50 } })(0, ['kept', 'a'])).toEqual(['OK', 50])
  })

  test('a request is charged for all its descriptors or for none, also where one rule is asked twice', async () => {
    const ask = service({ user: yearly(10), route: yearly(2) })
    expect(await ask(1, ['user', 'u'], ['route', 'a'], ['route', 'b'])).toEqual(['OK', 9, 1, 1])
    expect(await ask(1, ['route', 'b'])).toEqual(['OK', 0])
    expect(await ask(1, ['user', 'u'], ['route', 'a'], ['route', 'b'])).toEqual(['OVER_LIMIT', 9, 1, 0])
    expect(await ask(1, ['user', 'u'], ['route', 'b'])).toEqual(['OVER_LIMIT', 9, 0])
  })
})
