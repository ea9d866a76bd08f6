import { describe, expect, test } from 'vitest'
import { served } from '../fixtures/http/served.ts'
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
  const ask = (...entries: readonly (readonly [key: string, value: string])[]) =>
    call(client, { domain: 'edge', descriptors: entries.map(([key, value]) => ({ entries: [{ key, value }] })) })
  return { ...service, ask }
}

describe('files that name one domain', () => {
  const files = { 'paths.yaml': fileOf(PATH), 'users.yaml': fileOf(USER) }

  test('are a mistake unless they are to be merged', async () => {
    await expect(asking({}, files)).rejects.toThrow(/users.yaml:1:9: .*duplicate domain/)
  })

  test('are one domain with --merge-domains on', async () => {
    const { ask } = await asking({ 'merge-domains': 'on' }, files)
    expect(await ask(['path', '/'], ['user', '42'])).toMatchObject({
      statuses: [{ currentLimit: { requestsPerUnit: 5 } }, { currentLimit: { requestsPerUnit: 2 } }],
    })
  })

  test('must not hold one descriptor twice, merged or not', async () => {
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

  test('are none unless they were asked for', async () => {
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

  test('are none where nothing is limited', async () => {
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
