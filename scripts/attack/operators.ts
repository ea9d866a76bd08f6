import { startNginx } from 'sluice-harness'
import type { Attack } from './attack.ts'
import { ask, countOf, post } from './site.ts'

const RULES = 'limits: { per-user: { key: user, sliding-log: 1000/1h } }'
const TOKENS = ['--admin-token', 'open-sesame', '--check-token', 'knock-knock']
const OFF = { limit: 'per-user', mode: 'off' }

/** Headers of a local browser with a foreign page, under that site's name or one that resolves to loopback. */
const FOREIGN: readonly Record<string, string>[] = [
  { origin: 'https://evil.example' },
  { origin: 'null' },
  { host: 'rebound.example' },
  { host: 'rebound.example:8080', origin: 'http://rebound.example:8080' },
  { host: 'localhost.evil.example' },
  { origin: 'http://localhost.evil.example' },
]

const PROTECTED = [
  ['POST', '/v1/check'],
  ['POST', '/v1/peek'],
  ['POST', '/v1/reserve'],
  ['GET', '/v1/explain?user=1'],
  ['GET', '/v1/shadows'],
  ['GET', '/metrics'],
] as const

/** Headers that look like the admin token but are not valid. */
const TOKEN_SPELLINGS: readonly string[] = [
  ...[
    '',
    'Bearer',
    'Bearer ',
    'Bearer open-sesam',
    'Bearer open-sesamee',
    'Bearer OPEN-SESAME',
    'Bearer open-sesame\t x',
  ],
  ...['Basic b3Blbi1zZXNhbWU=', 'Basic OnN3b3JkZmlzaA==', 'Bearer undefined', 'Bearer null', 'open-sesame', 'Bearer *'],
  ...['Bearer knock-knock, Bearer open-sesam', 'Bearer open-sesame,', 'Bearer "open-sesame"', 'Bearer open%2Dsesame'],
  ...['Bearer [object Object]', `Bearer ${'a'.repeat(8000)}`, 'Token open-sesame', 'Bearer open-sesame;'],
]

export const OPERATORS: readonly Attack[] = [
  {
    name: 'operator routes behind nginx',
    tried: 'a limit turned off through a plain proxy_pass, HTTP/1.0 and 1.1',
    isQuick: true,
    async run(site) {
      const { http } = await site.service(RULES)
      const nginx = await startNginx(
        port => `server { listen 127.0.0.1:${port};
          location / { proxy_pass http://127.0.0.1:${http}; proxy_http_version 1.1; }
          location /old/ { proxy_pass http://127.0.0.1:${http}/; }
          location /host/ { proxy_pass http://127.0.0.1:${http}/; proxy_http_version 1.1; proxy_set_header Host $host; } }`,
      )
      site.atEnd(() => nginx.stop())
      const ways = ['/v1/modes', '/old/v1/modes', '/host/v1/modes']
      const through = await countOf(ways, 1, async path => (await post(nginx.port, path, OFF)).status === 200)
      return { attempts: ways.length, through, allowed: 0 }
    },
  },
  {
    name: 'operator routes without a token',
    tried: 'every header a proxy leaves out, over TCP',
    isQuick: true,
    async run(site) {
      const { http } = await site.service(RULES)
      const ways = [{}, { host: 'localhost' }, { host: '[::1]' }, { host: '127.0.0.1' }]
      const through = await countOf(
        ways,
        1,
        async headers => (await post(http, '/v1/modes', OFF, headers)).status === 200,
      )
      return { attempts: ways.length, through, allowed: 0 }
    },
  },
  {
    name: 'token spellings',
    tried: 'what looks like the admin token, or is the check token',
    isQuick: true,
    async run(site) {
      const { http } = await site.service(RULES, TOKENS)
      const spellings = [...TOKEN_SPELLINGS, 'Bearer knock-knock']
      const through = await countOf(spellings, 4, async authorization => {
        return (await post(http, '/v1/modes', OFF, { authorization })).status === 200
      })
      return { attempts: spellings.length, through, allowed: 0 }
    },
  },
  {
    name: 'pages of other sites',
    tried: 'check routes with a foreign Origin or Host, no check token',
    isQuick: true,
    async run(site) {
      const { http } = await site.service(RULES)
      const all = PROTECTED.flatMap(([method, path]) => FOREIGN.map(headers => ({ method, path, headers })))
      const through = await countOf(all, 4, async ({ method, path, headers }) => {
        const body = method === 'POST' ? '{"user":"1"}' : ''
        return (await ask(http, path, { method, headers, body })).status < 400
      })
      return { attempts: all.length, through, allowed: 0 }
    },
  },
]
