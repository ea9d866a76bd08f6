import { describe, expect, test } from 'vitest'
import { served } from '../fixtures/http/served.ts'
import { scrape } from '../fixtures/prometheus.ts'
import { call, clientOf } from '../fixtures/rls/client.ts'
import { folderOf } from '../fixtures/rules-file.ts'

// What those who come from envoyproxy/ratelimit switch on, asked over gRPC.

const OWN = 'limits: { per-user: { key: user, sliding-log: 10/1h } }'
const PATH = '  - { key: path, rate_limit: { unit: hour, requests_per_unit: 5 } }'
const USER = `  - { key: user, rate_limit: { unit: minute, requests_per_unit: 2 } }
  - { key: guest, rate_limit: { unlimited: true } }`
const fileOf = (...descriptors: string[]) => ['domain: edge', 'descriptors:', ...descriptors].join('\n')

const asking = async (flags: Readonly<Record<string, string>>, files: Readonly<Record<string, string>>) => {
  const service = await served(OWN, { envoy: folderOf(files), ...flags })
  const client = clientOf({ port: service.ports.grpc })
  const request = (descriptors: object[]) => call(client, { domain: 'edge', descriptors })
  const ask = (...entries: readonly (readonly [key: string, value: string])[]) =>
    request(entries.map(([key, value]) => ({ entries: [{ key, value }] })))
  return { ...service, ask, request }
}

describe('files that name one domain', () => {
  const files = { 'paths.yaml': fileOf(PATH), 'users.yaml': fileOf(USER) }

  test('are an error without --merge-domains', async () => {
    await expect(asking({}, files)).rejects.toThrow(/users.yaml:1:9: .*duplicate domain/)
  })

  test('are one domain with --merge-domains on', async () => {
    const { ask } = await asking({ 'merge-domains': 'on' }, files)
    expect(await ask(['path', '/'], ['user', '42'])).toMatchObject({
      statuses: [{ currentLimit: { requestsPerUnit: 5 } }, { currentLimit: { requestsPerUnit: 2 } }],
    })
  })

  test('must not hold one descriptor twice, with or without --merge-domains', async () => {
    const twice = { ...files, 'z.yaml': fileOf(PATH) }
    await expect(asking({ 'merge-domains': 'on' }, twice)).rejects.toThrow(
      /z.yaml:3:\d+: .*duplicate composite key.*edge.path/,
    )
  })
})

describe('the headers that Envoy is told to add', () => {
  const files = { 'edge.yaml': fileOf(PATH, USER) }
  const headersIn = (answer: object | string) =>
    Object.fromEntries(
      (answer as { responseHeadersToAdd: { key: string; value: string }[] }).responseHeadersToAdd.map(
        ({ key, value }) => [key, value],
      ),
    )

  test('are off by default', async () => {
    const { ask } = await asking({}, files)
    expect(headersIn(await ask(['user', '42']))).toEqual({})
  })

  test('are those of the descriptor that has the least left', async () => {
    const { ask } = await asking({ 'response-headers': 'on' }, files)
    // It is noon, to the second.
    expect(headersIn(await ask(['path', '/'], ['user', '42']))).toEqual({
      'RateLimit-Limit': '2',
      'RateLimit-Remaining': '1',
      'RateLimit-Reset': '60',
    })
  })

  test('are those of the descriptor that refuses, whatever others have left', async () => {
    const { ask } = await asking({ 'response-headers': 'on' }, files)
    for (let i = 0; i < 5; i++) await ask(['path', '/'])
    for (let i = 0; i < 2; i++) await ask(['user', '42'])
    expect(headersIn(await ask(['path', '/other'], ['user', '42']))).toMatchObject({
      'RateLimit-Limit': '2',
      'RateLimit-Remaining': '0',
    })
  })

  test('are missing if no rule applies', async () => {
    const { ask } = await asking({ 'response-headers': 'on' }, files)
    expect(headersIn(await ask(['guest', 'x'], ['other', 'x']))).toEqual({})
  })

  test('go by the names that were set, over JSON as over gRPC', async () => {
    const names = { 'limit-header': 'X-Limit', 'remaining-header': 'X-Left', 'reset-header': 'X-Reset' }
    const { post } = await asking({ 'response-headers': 'on', ...names }, files)
    const request = { domain: 'edge', descriptors: [{ entries: [{ key: 'path', value: '/' }] }] }
    expect(JSON.parse((await post('/json', request)).body).responseHeadersToAdd).toEqual([
      { key: 'X-Limit', value: '5' },
      { key: 'X-Left', value: '4' },
      { key: 'X-Reset', value: '3600' },
    ])
  })
})

describe('the statistics under the names of envoyproxy/ratelimit', () => {
  const files = {
    'edge.yaml': fileOf(
      `  - { key: user, detailed_metric: true, rate_limit: { unit: hour, requests_per_unit: 10 } }`,
      `  - { key: tried, shadow_mode: true, rate_limit: { unit: hour, requests_per_unit: 1 } }`,
      `  - { key: path, value: /a, descriptors: [{ key: ip, rate_limit: { unit: hour, requests_per_unit: 5 } }] }`,
    ),
  }
  const statsIn = async ({ get }: Awaited<ReturnType<typeof asking>>) => {
    const { series, types } = scrape((await get('/metrics')).body)
    const own = [...series].filter(([name]) => name.startsWith('ratelimit_service_'))
    return { stats: Object.fromEntries(own.filter(([, count]) => count > 0)), names: own.map(([name]) => name), types }
  }
  const hits = (value: string, count: number) => ({ entries: [{ key: 'user', value }], hitsAddend: { value: count } })

  test('are off by default', async () => {
    const service = await asking({}, files)
    await service.ask(['user', '42'])
    expect((await statsIn(service)).names).toEqual([])
  })

  test('count hits, those above 80 % as near, and those of a refused request as over', async () => {
    const service = await asking({ 'envoy-stats': 'on' }, files)
    // Of 10: 7, then up to 10, then one more.
    for (const count of [7, 3, 1]) await service.request([hits('42', count)])
    const { stats, names, types } = await statsIn(service)
    const of = (name: string) => `ratelimit_service_rate_limit_${name}{domain="edge",key1="user"}`
    expect(stats).toEqual({
      [of('total_hits')]: 11,
      [of('within_limit')]: 10,
      [of('near_limit')]: 2,
      [of('over_limit')]: 1,
    })
    expect(names).toContain(of('over_limit_with_local_cache'))
    expect(types.get('ratelimit_service_rate_limit_total_hits')).toBe('counter')
  })

  test('do not count a request with 0 hits', async () => {
    const service = await asking({ 'envoy-stats': 'on' }, files)
    await service.request([hits('42', 0)])
    expect((await statsIn(service)).stats).toEqual({})
  })

  test('count what a shadow would have refused, and have one label for each level', async () => {
    const service = await asking({ 'envoy-stats': 'on' }, files)
    for (let i = 0; i < 3; i++) await service.ask(['tried', 'x'])
    const entries = [
      { key: 'path', value: '/a' },
      { key: 'ip', value: '203.0.113.7' },
    ]
    await service.request([{ entries }])
    const { stats } = await statsIn(service)
    expect(stats).toMatchObject({
      'ratelimit_service_rate_limit_shadow_mode{domain="edge",key1="tried"}': 2,
      'ratelimit_service_rate_limit_over_limit{domain="edge",key1="tried"}': 2,
      'ratelimit_service_rate_limit_total_hits{domain="edge",key1="path_/a",key2="ip"}': 1,
    })
  })

  test('have no label that a request could choose, not even with detailed metrics and overrides', async () => {
    const service = await asking({ 'envoy-stats': 'on' }, files)
    for (let i = 0; i < 20; i++) {
      await service.ask(['user', `user ${i}`])
      await service.request([
        { entries: [{ key: `any ${i}`, value: 'x' }], limit: { requestsPerUnit: 5, unit: 'HOUR' } },
      ])
    }
    const { names } = await statsIn(service)
    expect(new Set(names.map(name => name.slice(name.indexOf('{'))))).toEqual(new Set(['{domain="edge",key1="user"}']))
  })
})
