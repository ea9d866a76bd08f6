import { describe, expect, test } from 'vitest'
import { complaints, operationOf } from '../../fixtures/http/documented.ts'
import { served } from '../../fixtures/http/served.ts'
import { API } from '../api.ts'
import { openApi } from './openapi.ts'

const RULES =
  'limits: { per-user: { key: user, sliding-log: 1000/1h }, calls: { key: user, cost: calls, sliding-log: 9/1h } }'
const document = openApi()
const text = JSON.stringify(document)

describe('the document', () => {
  test('is what the service serves', async () => {
    const { get } = await served(RULES)
    expect(JSON.parse((await get('/openapi.json')).body)).toEqual(JSON.parse(text))
  })

  test('has every route of the table, and no other', () => {
    const documented = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map(method => `${method.toUpperCase()} ${path}`),
    )
    expect(documented).toEqual(API.map(({ method, path }) => `${method} ${path}`))
  })

  test('refers only to schemas that exist, and has no unused schema', () => {
    const referred = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name!)
    expect([...new Set(referred)].sort()).toEqual(Object.keys(document.components.schemas).sort())
  })

  test.each(Object.keys(document.components.schemas))('has a schema %s that can be used', name => {
    expect(() => complaints(name, {})).not.toThrow()
  })

  test.each(API.map(({ method, path }) => [method, path] as const))(
    '%s %s says what each status means',
    (method, path) => {
      const responses = Object.entries(operationOf(method, path)!.responses)
      expect(responses.length).toBeGreaterThan(3)
      for (const [, { description }] of responses) expect(description).toMatch(/\w/)
    },
  )

  test.each(API.map(({ method, path }) => [method, path] as const))(
    '%s %s is answered as it says',
    async (method, path) => {
      const service = await served(RULES)
      // Answers are held to the document by whoever calls.
      const answer =
        method === 'GET'
          ? await service.get(`${path}?user=1&calls=1`)
          : await service.post(path, { user: '1', calls: 1 })
      expect([200, 400, 500]).toContain(answer.status)
    },
  )
})

test.each<[path: string, body: unknown, isRequest: boolean]>([
  ['/v1/check', { user: '1' }, true],
  ['/v1/check', { user: 1, vip: true, plan: null, cost: 0 }, true],
  ['/v1/check', {}, true],
  ['/v1/check', [{ user: '1' }, { user: '2', cost: 9 }], true],
  ['/v1/check', [], false],
  ['/v1/check', 'user', false],
  ['/v1/check', null, false],
  ['/v1/check', { user: '1', cost: -1 }, false],
  ['/v1/check', { user: '1', cost: 0.5 }, false],
  ['/v1/check', { user: '1', cost: 2 ** 53 }, false],
  ['/v1/check', { user: ['1'] }, false],
  ['/v1/peek', { user: '1', cost: 1000 }, true],
  ['/v1/peek', [{ user: {} }], false],
  ['/v1/reserve', { user: '1', cost: 5, ttl_ms: 1000 }, true],
  ['/v1/reserve', { user: '1' }, true],
  ['/v1/reserve', { user: '1', ttl_ms: 0 }, false],
  ['/v1/reserve', { user: '1', ttl_ms: 86_400_001 }, false],
  ['/v1/reserve', [{ user: '1' }], false],
  ['/v1/settle', { id: 'x', actual: 5 }, true],
  ['/v1/settle', { id: 'x', actual: { 'per-user': 5 } }, true],
  ['/v1/settle', { id: 'x', cancel: true }, true],
  ['/v1/settle', { id: 'x' }, false],
  ['/v1/settle', { id: 'x', cancel: false }, false],
  ['/v1/settle', { id: 'x', actual: -1 }, false],
  ['/v1/settle', { id: 'x', actual: {} }, false],
  ['/v1/settle', { actual: 5 }, false],
  ['/v1/refund', { user: '1', cost: 5, calls: 1 }, true],
  ['/v1/refund', [{ user: '1' }], false],
  ['/v1/reset', { user: '1' }, true],
  ['/v1/reset', { user: '1', limits: ['per-user'] }, true],
  ['/v1/reset', { user: '1', limits: 'per-user' }, false],
  ['/v1/modes', { limit: 'per-user', mode: 'off' }, true],
  ['/v1/modes', { limit: 'per-user', mode: 'on' }, false],
  ['/v1/modes', { mode: 'off' }, false],
])('POST %s of %j is a request: %s', agreeOn)

test.each<[what: string, body: unknown, isRequest: boolean]>([
  ['1000 checks', Array.from({ length: 1000 }, () => ({ user: '1' })), true],
  ['1001 checks', Array.from({ length: 1001 }, () => ({ user: '1' })), false],
  [
    '64 attributes and a cost',
    Object.fromEntries(Array.from({ length: 65 }, (_, i) => [i === 0 ? 'cost' : `a${i}`, 1])),
    true,
  ],
  ['66 attributes', Object.fromEntries(Array.from({ length: 66 }, (_, i) => [`a${i}`, 1])), false],
])('%s are a request', async (_, body, isRequest) => agreeOn('/v1/check', body, isRequest))

/** The document and the service are of one mind about a body. */
async function agreeOn(path: string, body: unknown, isRequest: boolean): Promise<void> {
  const schema = operationOf('POST', path)!.requestBody!.content['application/json'].schema.$ref.split('/').at(-1)!
  const attributes = ['vip', 'plan', 'calls', ...Array.from({ length: 66 }, (_, i) => `a${i}`)]
  const { post } = await served(
    `attributes: [${attributes}]\nlimits: { per-user: { key: user, sliding-log: 1000/1h } }`,
  )
  const { status } = await post(path, body)
  expect([complaints(schema, body).length === 0, status !== 400]).toEqual([isRequest, isRequest])
}
