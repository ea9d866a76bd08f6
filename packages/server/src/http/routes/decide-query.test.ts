import type { OutgoingHttpHeaders } from 'node:http'
import { describe, expect, test } from 'vitest'
import { type Asking, ask, remaining } from '../../fixtures/proxies/ask.ts'
import { applied, BY_FACT, PROXY } from '../../fixtures/proxies/by-fact.ts'
import { serving } from '../../fixtures/proxies/serving.ts'

const uri = (value: string) => ({ 'X-Forwarded-Uri': value })
const LOGIN = uri('/login')

describe('the address that a proxy asks at', () => {
  test.each<[query: string, headers: OutgoingHttpHeaders, names: string]>([
    ['user=42', {}, 'get user'],
    ['user=42&plan=pro', {}, 'get user pro'],
    ['user=', {}, 'get'],
    ['headers=user:x-user', { 'X-User': '42' }, 'get user'],
    ['headers=user:X-User,plan:X-Plan', { 'x-user': '42', 'x-plan': 'pro' }, 'get user pro'],
    ['headers=user:x-user', { 'X-User': '' }, 'get'],
    ['headers=user:x-user', {}, 'get'],
    ['headers=user:x-user', { 'X-User': '42&plan=pro' }, 'get user'],
    ['plan=pro', { 'X-User': '42' }, 'get'],
    ['__proto__=1&user=42', {}, 'get user'],
  ])('?%s with %j gives the attributes', async (query, headers, names) => {
    const { ports } = await serving(BY_FACT)
    const asking = { headers: { ...uri('/'), ...headers }, from: PROXY }
    expect(await applied(ports.http, `/v1/decide?${query}`, asking)).toBe(names)
  })

  test('says what a request costs', async () => {
    const { ports } = await serving(BY_FACT)
    const asking = { headers: uri('/'), from: PROXY }
    expect(remaining(await ask(ports.http, '/v1/decide?cost=40', asking))).toEqual({ get: 60 })
    expect(remaining(await ask(ports.http, '/v1/decide?cost=61', asking))).toEqual({ get: 60 })
  })

  test.each([
    ...[
      '/',
      '//',
      '/v1',
      '/v1/decide',
      '/v1/decide/',
      '/v1/check',
      '/healthz',
      '/metrics',
      '/any/thing?user=42',
      '/..',
    ],
    ...['/openapi.json', '/%ff', '/?'],
  ])('may be %s: that is answered, and never by a redirect', async path => {
    const { ports } = await serving(BY_FACT)
    for (const headers of [LOGIN, { 'X-Original-URI': '/login' }]) {
      expect(await applied(ports.http, path, { headers, from: PROXY })).toMatch(/^get login/)
    }
  })

  test.each<[what: string, asking: Asking]>([
    ['HEAD', { method: 'HEAD' }],
    ['POST with a body', { method: 'POST', body: 'x'.repeat(100_000) }],
    ['GET with Upgrade', { headers: { Connection: 'Upgrade', Upgrade: 'websocket' } }],
    ['GET with Expect', { headers: { Expect: '100-continue' } }],
    ['GET with a length but no body', { headers: { 'Content-Length': '0' } }],
  ])('may be called by %s', async (_, asking) => {
    const { ports } = await serving(BY_FACT)
    const headers = { ...asking.headers, ...LOGIN, 'X-Forwarded-Method': 'POST' }
    expect(await applied(ports.http, '/v1/decide', { ...asking, headers, from: PROXY })).toBe('post login')
  })

  const URI_AND = { headers: { ...LOGIN, 'X-Original-URI': '/' } }
  test.each<[what: string, path: string, asking: Asking, message: string]>([
    ['no URI', '/v1/decide', {}, 'expected X-Forwarded-Uri or X-Original-URI: which request is it about?'],
    ['an empty URI', '/', { headers: uri('') }, 'expected X-Forwarded-Uri or X-Original-URI'],
    ['two URIs', '/v1/decide', URI_AND, 'expected x-forwarded-uri and x-original-uri to say one thing'],
    ['two lines', '/', { headers: { 'X-Forwarded-Uri': ['/login', '/'] } }, 'to say one thing'],
    [
      'two methods',
      '/',
      { headers: { ...LOGIN, 'X-Forwarded-Method': 'POST', 'X-Original-Method': 'GET' } },
      'expected x-forwarded-method and x-original-method to say one thing',
    ],
    ['an unknown deny', '/v1/decide?deny=429', { headers: LOGIN }, 'expected deny=403, or no deny for 429 and 503'],
    ['an empty deny', '/v1/decide?deny=', { headers: LOGIN }, 'expected deny=403'],
    ['no cost', '/v1/decide?cost=', { headers: LOGIN }, 'expected cost as a whole number, 1 or more'],
    ['a cost of 0', '/v1/decide?cost=0', { headers: LOGIN }, 'expected cost as a whole number, 1 or more'],
    ['a cost of 1e3', '/v1/decide?cost=1e3', { headers: LOGIN }, 'expected cost as a whole number, 1 or more'],
    ['a cost of -1', '/v1/decide?cost=-1', { headers: LOGIN }, 'expected cost as a whole number, 1 or more'],
    ['a fact', '/v1/decide?ip=203.0.113.7', { headers: LOGIN }, 'expected no ip in the query'],
    ['a fact by a header', '/v1/decide?headers=route:x', { headers: LOGIN }, 'expected no route in the query'],
    ['a name twice', '/v1/decide?user=1&user=2', { headers: LOGIN }, 'expected each name of the query once'],
    ['a header twice', '/v1/decide?headers=user:a,user:b', { headers: LOGIN }, "each attribute once, got 'user' again"],
    ['both ways', '/v1/decide?user=1&headers=user:b', { headers: LOGIN }, "each attribute once, got 'user' again"],
    ['headers without names', '/v1/decide?headers=user', { headers: LOGIN }, 'expected headers as attribute:header'],
    ['empty headers', '/v1/decide?headers=', { headers: LOGIN }, 'expected headers as attribute:header'],
    ['bad headers', '/v1/decide?headers=user:x%20y', { headers: LOGIN }, 'expected headers as attribute:header'],
  ])('with %s is an error, and no request passes', async (_, path, asking, message) => {
    const { ports } = await serving(BY_FACT)
    const answer = await ask(ports.http, path, { ...asking, from: PROXY })
    expect(answer.status).toBe(400)
    expect(JSON.parse(answer.body).error).toContain(message)
  })
})
