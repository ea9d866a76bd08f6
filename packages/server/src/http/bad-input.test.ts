import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { served } from '../fixtures/http/served.ts'
import { RawClient } from '../fixtures/resp/raw-client.ts'
import { shown } from '../shown.ts'

const RULES = 'limits: { per-user: { key: user, sliding-log: 1000/1h } }'
const OBJECT = 'expected a JSON object such as {"ip":"203.0.113.7","cost":1}'
const COST = 'expected cost as a whole number, 0 or more'
const POSTS = ['/v1/check', '/v1/peek', '/v1/reserve', '/v1/settle', '/v1/refund', '/v1/reset', '/v1/modes']

/** Hundreds of requests, on a busy machine. */
const SLOW_MS = 30_000

describe('a body', () => {
  const deep = (open: string, close: string) => open.repeat(100_000) + close.repeat(100_000)

  test.each<[what: string, body: string, error: string]>([
    ['nothing', '', 'expected a body of JSON, got nothing'],
    ['not JSON', '{"user":', 'expected a body of JSON, got "{'],
    ['JSON with a comma too many', '{"user":"1",}', 'expected a body of JSON'],
    ['text before it', 'x{"user":"1"}', 'expected a body of JSON'],
    ['NaN, which JSON does not have', '{"user":"1","cost":NaN}', 'expected a body of JSON'],
    ['null', 'null', `${OBJECT}, got null`],
    ['a text', '"user"', OBJECT],
    ['a number', '7', OBJECT],
    ['an empty array', '[]', 'expected 1 to 1000 checks, got 0'],
    ['an array of nulls', '[null]', OBJECT],
    ['an array in an array', '[[{"user":"1"}]]', OBJECT],
    ['arrays without end', deep('[', ']'), OBJECT],
    ['objects without end', `{"user":${deep('{"a":', '}').replace('}', '1}')}}`, "expected attribute 'user' as text"],
    ['a cost below 0', '{"user":"1","cost":-1}', `${COST}, got -1`],
    ['a part of a cost', '{"user":"1","cost":0.5}', COST],
    ['a cost in words', '{"user":"1","cost":"5"}', COST],
    ['a cost of null', '{"user":"1","cost":null}', COST],
    ['a cost of 2^53', '{"user":"1","cost":9007199254740992}', COST],
    ['a cost without end', '{"user":"1","cost":1e999}', COST],
    ['an object for an attribute', '{"user":{"id":1}}', "expected attribute 'user' as text or a number"],
    ['a list for an attribute', '{"user":[1]}', "expected attribute 'user' as text or a number, got [1]"],
    ['an object as its prototype', '{"__proto__":{"user":"1"}}', "expected attribute '__proto__' as text or a number"],
    ['a number without end', '{"user":1e999}', "expected attribute 'user' as text or a number"],
    [
      'more attributes than anybody has',
      JSON.stringify(Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`a${i}`, 1]))),
      'expected at most 64 attributes, got 65',
    ],
    ['a name of 64 KiB', `{"${'n'.repeat(65_536)}":[]}`, `expected attribute '${'n'.repeat(80)}' as text or a number`],
  ])('of %s is a 400 that says what was expected, and takes nothing', async (_, body, error) => {
    const { post, lines } = await served(RULES)
    for (const path of ['/v1/check', '/v1/peek']) {
      const answer = await post(path, body)
      expect([answer.status, answer.json.error]).toEqual([400, expect.stringContaining(error)])
    }
    expect((await post('/v1/check', { user: '1' })).json.remaining).toBe(999)
    expect(lines).toEqual([])
  })

  test.each(POSTS)('of any content is answered by %s, and the service goes on', { timeout: SLOW_MS }, async path => {
    const { post, lines } = await served(RULES)
    const odd = fc.oneof(
      fc.json(),
      fc.string({ unit: 'binary' }),
      fc
        .dictionary(
          fc.constantFrom('user', 'cost', 'id', 'actual', 'cancel', 'limit', 'mode', 'limits', 'ttl_ms', '__proto__'),
          fc.oneof(fc.integer(), fc.double(), fc.string(), fc.boolean(), fc.constantFrom(null, [], {}, 'off')),
        )
        .map(value => JSON.stringify(value)),
    )
    await fc.assert(
      fc.asyncProperty(odd, async body => {
        const { status } = await post(path, body)
        expect([200, 400, 404, 429]).toContain(status)
      }),
      { numRuns: 100 },
    )
    expect((await post('/v1/check', { user: 'another' })).status).toBe(200)
    expect(lines.filter(line => !line.startsWith('no limit applies'))).toEqual([])
  })

  const OPERATOR = 'Authorization: Bearer an-operator'
  test('that is not UTF-8 is a 400: different callers must not become one', async () => {
    const { ports } = await served(RULES)
    const client = await RawClient.connected(ports.http)
    for (const path of POSTS) {
      const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${OPERATOR}\r\nContent-Length: 12\r\n\r\n`
      const answer = await client.send(`${head}{"user":"\xff"}`).until('}')
      expect(answer).toMatch(/^HTTP\/1\.1 400 .*\{"error":"expected a body in UTF-8"\}$/s)
    }
    client.close()
  })
})

describe('keys are data', () => {
  const KEYS: [what: string, key: string][] = [
    ['nothing', ''],
    ['64 KiB', 'k'.repeat(65_536)],
    ['NUL', 'a\u0000b'],
    ['emoji', '👩‍👩‍👧'],
    ['half a character', '\ud83d'],
    ['the other half', '\udc69'],
    ['__proto__', '__proto__'],
    ['a line end', 'a\r\nSet-Cookie: b=c'],
    ['two values in one', '1:a'],
  ]

  test('each is counted apart, over memory', async () => {
    const { post } = await served(RULES)
    for (const [, user] of KEYS) expect((await post('/v1/check', { user })).json.remaining).toBe(999)
    for (const [, user] of KEYS) expect((await post('/v1/check', { user })).json.remaining).toBe(998)
  })

  test.each(['__proto__', 'constructor', 'hasOwnProperty', 'toString'])('%s is a name like any other', async name => {
    const { post } = await served(`limits: { odd: { key: ${name}, sliding-log: 3/1h } }`)
    const body = (value: string) => `{${JSON.stringify(name)}:${JSON.stringify(value)}}`
    expect((await post('/v1/check', body('a'))).json).toMatchObject({ policy: 'odd', remaining: 2 })
    expect((await post('/v1/check', body('a'))).json.remaining).toBe(1)
    expect((await post('/v1/check', body('b'))).json.remaining).toBe(2)
    // What every object inherits is none of its attributes.
    expect((await post('/v1/check', { ip: 'a' })).json.limits).toEqual([])
  })
})

describe('the query of explain', () => {
  test.each(['?__proto__=1', '?=1', '?usr=1'])('%j has an attribute that no rule names', async query => {
    const { get } = await served(RULES)
    expect((await get(`/v1/explain${query}`)).status).toBe(400)
  })

  test.each(['-1', '0.5', '1e3', '0x10', '', ' 1', 'NaN', 'Infinity', '9007199254740992', '9'.repeat(400)])(
    'with a cost of %j is a 400',
    async cost => {
      const { get } = await served(RULES)
      const { status, json } = await get(`/v1/explain?user=1&cost=${encodeURIComponent(cost)}`)
      expect([status, json.error]).toEqual([400, `${COST}, got ${shown(cost)}`])
    },
  )

  test.each(['', '?', '?user', '?user=%', '?user=%ff', '?user=1&user=2', '?cost=0', '?&&&'])(
    '%j is answered',
    async query => {
      const { get } = await served(RULES)
      expect((await get(`/v1/explain${query}`)).status).toBe(200)
    },
  )
})
