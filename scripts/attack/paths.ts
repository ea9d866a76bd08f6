import { rateLimit as fetchLimit } from 'sluice/fetch'
import { ip } from 'sluice/http'
import { rateLimit as nodeLimit } from 'sluice/node'
import type { Attack } from './attack.ts'
import { ask, countOf } from './site.ts'

const LIMIT = 5

/** Spellings that some server routes to /login: nginx, Node with `new URL`, Express or find-my-way. */
const SPELLINGS: readonly string[] = [
  ...['/login', '//login', '/login/', '/LOGIN', '/./login', '/x/../login', '/%6cogin', '/%6Cogin', '/login?a=b'],
  ...['/login;a=b', '/x/%2e%2e/login', '/x/%2E./login', '/x/..\\login', '\\login', '/x\\..\\login'],
  `/${'./'.repeat(130)}login`,
  `/${'a/../'.repeat(65)}login`,
  `${'/'.repeat(130)}login`,
  `/${'%2e/'.repeat(200)}login`,
  ...['/%ff/%2e%2e/login', '/%ff/../login', '/%/../login', '/x%2F..%2Flogin', '/%c0%ae/../login', '/x/%2e%2e%2flogin'],
]

function limited<R extends { route: string | undefined }>() {
  return { login: { policy: `${LIMIT}/h` as const, key: ip(), when: (r: R) => r.route === '/login' } }
}

export const PATHS: readonly Attack[] = [
  {
    name: 'route spellings, /v1/decide',
    tried: `${SPELLINGS.length} spellings of /login as X-Original-URI`,
    isQuick: true,
    async run(site) {
      const rules = `limits: { login: { key: ip, when: { route: /login }, sliding-log: ${LIMIT}/1h } }`
      const { http } = await site.service(rules)
      return spelled(async uri => {
        const headers = { 'x-original-uri': uri, 'x-original-method': 'POST', 'x-forwarded-for': '203.0.113.7' }
        return (await ask(http, '/v1/decide', { headers })).status
      })
    },
  },
  {
    name: 'route spellings, node:http',
    tried: `${SPELLINGS.length} spellings of /login in the request line`,
    isQuick: true,
    async run(site) {
      const limit = nodeLimit({ routes: ['/login', '/search/:q'], limits: limited() })
      const port = await site.listening((request, response) => limit(request, response, () => response.end('served')))
      return spelled(async path => (await ask(port, path, { method: 'POST' })).status)
    },
  },
  {
    name: 'route spellings, fetch',
    tried: `${SPELLINGS.length} spellings of /login in the URL of a Request`,
    isQuick: true,
    async run() {
      const limit = fetchLimit({ routes: ['/login', '/search/:q'], limits: limited(), trustProxy: 1 })
      const handle = limit(() => new Response('served'))
      return spelled(async path => {
        const headers = { 'x-forwarded-for': '203.0.113.7' }
        const url = `http://app.example/${path.replace(/^[/\\]/, '')}`
        return (await handle(new Request(url, { method: 'POST', headers }))).status
      })
    },
  },
]

async function spelled(statusOf: (spelling: string) => Promise<number>) {
  const through = await countOf(SPELLINGS, 1, async spelling => (await statusOf(spelling)) === 200)
  return { attempts: SPELLINGS.length, through, allowed: LIMIT }
}
