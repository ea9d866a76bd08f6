import { describe, expect, test } from 'vitest'
import { run } from '../fixtures/command/run.ts'
import { rulesFile } from '../fixtures/rules-file.ts'

const OWN = `
limits:
  per-ip: { key: ip, sliding-window: 60/1m }
  search: { key: [user, route], when: { route: /search }, gcra: { rate: 5/s, burst: 10 }, mode: shadow }
  tokens: { key: user, cost: tokens, token-bucket: { capacity: 100, refill: 10/s } }
`
const ENVOY = `
domain: mongo
descriptors:
  - key: database
    rate_limit: { unit: minute, requests_per_unit: 100 }
  - { key: database, value: users, rate_limit: { unit: second, requests_per_unit: 500 } }
  - { key: database, value: free }
`

describe('our own rules', () => {
  const told = `+ per-ip applies: ip is there
    counts ip=203.0.113.7, 60 in 1m (sliding window), cost 5
+ search applies: user and route are there, route is '/search'
    counts user=42 route=/search, 10 at once, then 5 every 1s (GCRA), cost 5, in shadow
- tokens does not apply: it is switched off
`

  test.each<[what: string, words: string[]]>([
    ['words', ['ip=203.0.113.7', 'user=42', 'route=/search', 'tokens=9', 'cost=5']],
    ['JSON', ['{"ip":"203.0.113.7","user":42,"route":"/search","tokens":9,"cost":5}']],
    ['JSON that a shell has split', ['{"ip":"203.0.113.7","user":42,', '"route":"/search","cost":5}']],
  ])('are explained for a request in %s', async (_, words) => {
    const file = rulesFile(OWN.replace('cost: tokens,', 'cost: tokens, mode: off,'))
    expect(await run('explain', file, ...words)).toEqual({ code: 0, out: told, err: '' })
  })

  test('name the attribute that a limit lacks', async () => {
    const { out } = await run('explain', rulesFile(OWN), 'user=42', 'tokens=9', 'route=/')
    expect(out.split('\n').slice(0, 2)).toEqual([
      '- per-ip does not apply: it counts by ip, and there is no ip',
      "- search does not apply: route must be '/search', and it is '/'",
    ])
  })

  test('are explained to machines', async () => {
    const { code, out } = await run('explain', rulesFile(OWN), 'user=42', 'tokens=9', '--json')
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject([
      { limit: 'per-ip', applies: false },
      { limit: 'search', applies: false },
      { limit: 'tokens', applies: true, key: 'user=42', cost: 9 },
    ])
  })

  test.each<[words: string[], err: string]>([
    [['ip'], "expected a request as JSON or as name=value, got 'ip'"],
    [['=1'], "expected a request as JSON or as name=value, got '=1'"],
    [['{"ip":'], 'expected a request as JSON, got: '],
    [['{"ip":[1]}'], "expected attribute 'ip' as text or a number"],
    [['ip=1', 'cost=-1'], 'expected cost as a whole number, 0 or more'],
    [['ip=1', 'cost='], 'expected cost as a whole number, 0 or more'],
    [['ip=1', 'cost=1e3'], 'expected cost as a whole number, 0 or more'],
    [['user=1', 'tokens=many'], "expected attribute 'tokens' as a cost"],
  ])('do not know what to make of %j', async (words, err) => {
    const ran = await run('explain', rulesFile(OWN), ...words)
    expect(ran).toMatchObject({ code: 2, out: '', err: expect.stringContaining(err) })
  })
})

describe('rules of envoyproxy/ratelimit', () => {
  const request = (...values: string[]) =>
    JSON.stringify({ domain: 'mongo', descriptors: values.map(value => ({ entries: [{ key: 'database', value }] })) })

  test('are explained by the rule that each descriptor matches', async () => {
    const { code, out } = await run('explain', rulesFile(ENVOY), request('users', 'other', 'free'))
    expect(code).toBe(0)
    expect(out).toBe(`+ database=users is limited: database=users matches exactly
    counts mongo.database_users, 500 in 1s (fixed window)
+ database=other is limited: database=other matches any database
    counts mongo.database, 100 in 1m (fixed window)
- database=free is not limited: database=free matches exactly; that rule has no limit
`)
  })

  test('are explained to machines', async () => {
    const { out } = await run('explain', rulesFile(ENVOY), '--json', request('users'))
    expect(JSON.parse(out)).toMatchObject([{ descriptor: 'database=users', rule: 'mongo.database_users' }])
  })

  test.each([
    ['database=users', 'expected JSON'],
    ['{"domain":""}', 'expected a domain, got an empty one'],
    ['{"domain":"mongo"}', 'expected a descriptor, got none'],
    ['{"domain":"mongo","descriptors":[{"entries":[{"key":"a"}],"limit":{"unit":"UNKNOWN"}}]}', 'got UNKNOWN'],
  ])('do not know what to make of %s', async (words, err) => {
    const ran = await run('explain', rulesFile(ENVOY), words)
    expect(ran).toMatchObject({ code: 2, out: '', err: expect.stringContaining(err) })
  })
})

test('errors in rules are reported as check reports them', async () => {
  const file = rulesFile('limits: { a: { key: user } }')
  const { code, err } = await run('explain', file, 'user=1')
  expect([code, err]).toEqual([1, expect.stringContaining(`${file}:1:11: `)])
})
