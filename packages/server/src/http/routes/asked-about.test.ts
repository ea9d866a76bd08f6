import type { OutgoingHttpHeaders } from 'node:http'
import { describe, expect, test } from 'vitest'
import { ask, remaining } from '../../fixtures/proxies/ask.ts'
import { applied, BY_FACT, PROXY, STRANGER } from '../../fixtures/proxies/by-fact.ts'
import { serving } from '../../fixtures/proxies/serving.ts'

const uri = (value: string) => ({ 'X-Forwarded-Uri': value })
const LOGIN = uri('/login')

describe('a trusted proxy may describe a request', () => {
  const said: [what: string, headers: OutgoingHttpHeaders, names: string][] = [
    ['no more than the URI', uri('/'), 'get'],
    ['the method', { ...uri('/'), 'X-Forwarded-Method': 'POST' }, 'post'],
    ['the host', { ...uri('/'), 'X-Forwarded-Host': 'shop.example' }, 'get shop'],
    ['the scheme', { ...uri('/'), 'X-Forwarded-Proto': 'https' }, 'get secure'],
    ['the route', LOGIN, 'get login'],
    [
      'all, as Traefik and Caddy do',
      {
        ...LOGIN,
        ...{ 'X-Forwarded-Method': 'POST', 'X-Forwarded-Host': 'shop.example', 'X-Forwarded-Proto': 'https' },
      },
      'post login shop secure',
    ],
    [
      'all, as nginx by custom does',
      { 'X-Original-URI': '/login', 'X-Original-Method': 'POST', Host: 'shop.example' },
      'post login shop',
    ],
    ['the same twice', { ...LOGIN, 'X-Original-URI': '/login' }, 'get login'],
    ['one thing, and another as nothing', { ...LOGIN, 'X-Original-URI': '' }, 'get login'],
  ]
  test.each(said)('%s', async (_, headers, names) => {
    const { ports } = await serving(BY_FACT)
    expect(await applied(ports.http, '/v1/decide', { headers, from: PROXY })).toBe(names)
  })

  test.each([
    ...[
      '/login/',
      '//login',
      '/LOGIN',
      '/%6cogin',
      '/%2Flogin',
      '/login;jsessionid=1',
      '/login?next=%2F',
      '/login#top',
    ],
    ...['/./login', '/a/../login', 'https://shop.example/login'],
  ])('%s is /login', async spelling => {
    const { ports } = await serving(BY_FACT)
    expect(await applied(ports.http, '/v1/decide', { headers: uri(spelling), from: PROXY })).toBe('get login')
  })

  test.each([
    ['X-Forwarded-Method', 'HEAD', 'get'],
    ['X-Forwarded-Method', 'post', 'post'],
    ['X-Forwarded-Host', 'SHOP.example', 'get shop'],
    ['X-Forwarded-Host', 'shop.example:8443', 'get shop'],
    ['X-Forwarded-Host', 'shop.example.:443', 'get shop'],
    ['X-Forwarded-Proto', 'HTTPS', 'get secure'],
  ])('%s: %s has one meaning with its other spellings', async (name, value, names) => {
    const { ports } = await serving(BY_FACT)
    expect(await applied(ports.http, '/v1/decide', { headers: { ...uri('/'), [name]: value }, from: PROXY })).toBe(
      names,
    )
  })
})

describe('a call from any other address is decided for itself', () => {
  const everything = {
    ...{ 'X-Forwarded-Uri': '/login', 'X-Forwarded-Method': 'POST', 'X-Forwarded-Host': 'shop.example' },
    ...{ 'X-Forwarded-Proto': 'https', 'X-Forwarded-For': '203.0.113.7', 'X-User': '42' },
  }

  test('whatever its headers and its URL say', async () => {
    const { ports } = await serving(BY_FACT)
    const path = '/v1/decide?headers=user:x-user&plan=pro'
    expect(await applied(ports.http, path, { headers: everything, from: STRANGER })).toBe('get')
  })

  test('under its own address', async () => {
    const { ports } = await serving(BY_FACT)
    const left = async (from: string, client: string) => {
      const headers = { ...uri('/'), 'X-Forwarded-For': client }
      return remaining(await ask(ports.http, '/v1/decide', { headers, from })).get
    }
    expect(await left(STRANGER, '203.0.113.7')).toBe(99)
    expect(await left(STRANGER, '203.0.113.8')).toBe(98)
    expect(await left(PROXY, STRANGER)).toBe(97)
    expect(await left(PROXY, '203.0.113.7')).toBe(99)
  })

  test('until the rules trust its address', async () => {
    const { ports, reload } = await serving(BY_FACT)
    const asking = { headers: LOGIN, from: STRANGER }
    expect(await applied(ports.http, '/v1/decide', asking)).toBe('get')
    expect(reload(BY_FACT.replace(PROXY, `${STRANGER}, unix`))).toBe(true)
    expect(await applied(ports.http, '/v1/decide', asking)).toBe('get login')
  })
})

test('the client address is that of the last untrusted hop, whatever headers the client sent', async () => {
  const { ports } = await serving(BY_FACT)
  const left = async (forwardedFor: string | string[]) => {
    const headers = { ...uri('/'), 'X-Forwarded-For': forwardedFor }
    return remaining(await ask(ports.http, '/v1/decide', { headers, from: PROXY })).get
  }
  expect(await left('203.0.113.7')).toBe(99)
  expect(await left('198.51.100.1, 203.0.113.7')).toBe(98)
  expect(await left('nonsense, 203.0.113.7')).toBe(97)
  expect(await left(`203.0.113.7, ${PROXY}`)).toBe(96)
  expect(await left(['198.51.100.1', '203.0.113.7'])).toBe(95)
  expect(await left('203.0.113.8')).toBe(99)
})
