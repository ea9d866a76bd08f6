import type { OutgoingHttpHeaders } from 'node:http'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type Answered, ask, remaining } from '../fixtures/proxies/ask.ts'
import { documented } from '../fixtures/proxies/documented.ts'
import { serving } from '../fixtures/proxies/serving.ts'

/** Traefik is in no package of the system: what it would ask is asked here, in the shape that its manual gives. */
interface Configuration {
  readonly middlewares: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>>
  readonly routers: Readonly<Record<string, { readonly middlewares?: readonly string[]; readonly service: string }>>
  readonly services: Readonly<Record<string, object>>
}

const { middlewares, routers, services } = parse(documented('traefik.yml')).http as Configuration
const { address, authRequestHeaders } = middlewares.sluice!.forwardAuth as {
  address: string
  authRequestHeaders: readonly string[]
}

interface Client {
  readonly method?: string
  readonly uri: string
  readonly ip?: string
  readonly headers?: OutgoingHttpHeaders
  /** Who the basicAuth of the route found. */
  readonly signedIn?: string
}

/** GET without a body, those headers of the client that are listed, and then X-Forwarded-…, whatever the client sent. */
function subRequest(client: Client, listed: readonly string[] | 'all'): OutgoingHttpHeaders {
  const { method = 'GET', uri, ip = '203.0.113.7', headers = {}, signedIn } = client
  const sent = { ...headers, 'X-User': signedIn }
  const names = listed === 'all' ? Object.keys(sent) : listed
  const along = Object.entries(sent).filter(([name, value]) => value !== undefined && names.includes(name))
  return {
    ...Object.fromEntries(along),
    ...{ 'X-Forwarded-Method': method, 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'shop.example' },
    ...{ 'X-Forwarded-Uri': uri, 'X-Forwarded-For': ip },
  }
}

async function traefik(listed: readonly string[] | 'all' = authRequestHeaders) {
  const { ports, clock } = await serving(documented('rules.yaml'))
  const { pathname, search } = new URL(address)
  const get = (client: Client): Promise<Answered> =>
    ask(ports.http, pathname + search, { headers: subRequest(client, listed) })
  return { get, clock }
}

describe('called as Traefik calls it', () => {
  test('a request that passes is 200 with the fields that the app is told', async () => {
    const { get } = await traefik()
    const answer = await get({ uri: '/cart?item=1' })
    expect(answer).toMatchObject({ status: 200, body: '' })
    for (const name of middlewares.sluice!.forwardAuth!.authResponseHeaders as string[]) {
      expect(answer.headers).toHaveProperty(name.toLowerCase())
    }
  })

  test('a refusal is a complete response, because Traefik passes it to the client unchanged', async () => {
    const { get, clock } = await traefik()
    const login = { method: 'POST', uri: '/login' }
    for (let i = 0; i < 5; i++) expect((await get(login)).status).toBe(200)
    expect(await get(login)).toMatchObject({
      ...{ status: 429, body: expect.stringContaining('"title":"Quota Exceeded"') },
      headers: { 'retry-after': '900', 'cache-control': 'no-store', 'ratelimit-policy': expect.any(String) },
    })
    clock.advance(900_000)
    expect((await get(login)).status).toBe(200)
  })

  test('clients are told apart by address and by name', async () => {
    const { get } = await traefik()
    expect(remaining(await get({ uri: '/', ip: '203.0.113.7' }))).toEqual({ 'per-ip': 99 })
    expect(remaining(await get({ uri: '/', ip: '203.0.113.8' }))).toEqual({ 'per-ip': 99 })
    expect(remaining(await get({ uri: '/account/', ip: '203.0.113.8', signedIn: 'alice' }))).toEqual({
      ...{ 'per-ip': 98, 'per-user': 19 },
    })
  })

  const forged = { 'X-Original-URI': '/', 'X-Original-Method': 'GET', 'X-Real-IP': '192.0.2.1', Cookie: 'a=b' }
  const login = { method: 'POST', uri: '/login', headers: forged }

  test('no header that a client sends changes the request that is decided', async () => {
    const { get } = await traefik()
    for (let i = 0; i < 5; i++) expect(remaining(await get(login))).toMatchObject({ login: 4 - i })
    expect((await get(login)).status).toBe(429)
  })

  test('without the list of headers, a client that forges one is refused', async () => {
    const { get } = await traefik('all')
    expect((await get({ ...login, headers: {} })).status).toBe(200)
    expect((await get(login)).status).toBe(400)
  })
})

test('its configuration names only parts that exist, and limits every route but health', () => {
  for (const [name, { middlewares: used = [], service }] of Object.entries(routers)) {
    expect(Object.keys(middlewares)).toEqual(expect.arrayContaining([...used]))
    expect(Object.keys(services)).toContain(service)
    expect(used.at(-1)).toBe(name === 'health' ? undefined : 'sluice')
  }
  const { headers } = middlewares.nobody!
  expect(headers).toEqual({ customRequestHeaders: { 'X-User': '' } })
})
