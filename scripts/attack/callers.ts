import express from 'express'
import { rateLimit } from 'sluice/express'
import { apiKey, loginLimits } from 'sluice/http'
import type { Attack } from './attack.ts'
import { ask, countOf, post, type Site, upTo } from './site.ts'

const LIMIT = 5
const PREFLIGHTS = 700
const GUESSES = 60
/** How many attempts at one name `loginLimits` allows in an hour. */
const GUESSES_ALLOWED = 20
const ADDRESSES = 400

const PREFLIGHT = { 'access-control-request-method': 'POST' }
const WITH_ORIGIN = { ...PREFLIGHT, origin: 'https://app.example' }
/** How many preflights one address may send in a minute by default. */
const PREFLIGHTS_ALLOWED = 600

const forwarded = (i: number) => `203.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`

type Options = Parameters<typeof rateLimit>[0]

/** An Express server behind these limits; its handler answers 200. */
function limited(site: Site, options: Options): Promise<number> {
  return site.listening(express().use(rateLimit(options), (_request, response) => void response.send('served')))
}

/** Ways to send one name in many spellings. */
const NAMES: readonly ((i: number) => unknown)[] = [
  i => `${' '.repeat(1024 + i)}victim`,
  () => ['victim'],
  () => ({ toString: 'victim' }),
  i => ['victim', i],
  i => `${i % 2 === 0 ? 'V' : 'v'}ictim`,
  i => `victim${' '.repeat(i)}`,
  i => `${'\u3000'.repeat(i + 1)}ｖictim`,
]

export const CALLERS: readonly Attack[] = [
  {
    name: 'preflights without Origin',
    tried: `OPTIONS at a limit of ${LIMIT}`,
    isQuick: true,
    async run(site) {
      const port = await limited(site, { policy: `${LIMIT}/h` })
      const through = await served(PREFLIGHTS, () => ask(port, '/', { method: 'OPTIONS', headers: PREFLIGHT }))
      return { attempts: PREFLIGHTS, through, allowed: LIMIT }
    },
  },
  {
    name: 'preflights as any request',
    tried: `OPTIONS with Origin at a limit of ${LIMIT}`,
    isQuick: true,
    async run(site) {
      const port = await limited(site, { policy: `${LIMIT}/h` })
      const through = await served(PREFLIGHTS, () => ask(port, '/', { method: 'OPTIONS', headers: WITH_ORIGIN }))
      return { attempts: PREFLIGHTS, through, allowed: PREFLIGHTS_ALLOWED }
    },
  },
  {
    name: 'preflights from a denied address',
    tried: 'OPTIONS past the deny list',
    isQuick: true,
    async run(site) {
      const port = await limited(site, { policy: `${LIMIT}/h`, deny: ['127.0.0.1'] })
      const through = await served(20, () => ask(port, '/', { method: 'OPTIONS', headers: WITH_ORIGIN }))
      return { attempts: 20, through, allowed: 0 }
    },
  },
  {
    name: 'one name in many spellings',
    tried: 'guesses at one name from ever new addresses',
    isQuick: true,
    async run(site) {
      const app = express()
      app.use(express.json())
      const limit = rateLimit({ limits: loginLimits({ total: '1000000/10m' }), trustProxy: 1 })
      app.post('/login', limit, (_request, response) => void response.status(401).send())
      const port = await site.listening(app)
      let most = 0
      for (const spelled of NAMES) {
        const guess = async (i: number) => {
          const headers = { 'content-type': 'application/json', 'x-forwarded-for': forwarded(i) }
          return (await post(port, '/login', { username: spelled(i), password: String(i) }, headers)).status === 401
        }
        most = Math.max(most, await countOf(upTo(GUESSES), 8, guess))
      }
      return { attempts: NAMES.length * GUESSES, through: most, allowed: GUESSES_ALLOWED, unit: 'at one spelling' }
    },
  },
  {
    name: 'spoofed addresses, nobody trusted',
    tried: 'a new X-Forwarded-For each',
    isQuick: true,
    async run(site) {
      const port = await limited(site, { policy: `${LIMIT}/h` })
      const asIf = (i: number) => ({ 'x-forwarded-for': forwarded(i), forwarded: `for=${forwarded(i)}` })
      const through = await served(ADDRESSES, i => ask(port, '/', { headers: asIf(i) }))
      return { attempts: ADDRESSES, through, allowed: LIMIT }
    },
  },
  {
    name: 'spoofed addresses, one proxy trusted',
    tried: 'new entries left of the real one',
    isQuick: true,
    async run(site) {
      const port = await limited(site, { policy: `${LIMIT}/h`, trustProxy: 1 })
      const asIf = (i: number) => ({ 'x-forwarded-for': `${forwarded(i)}, 198.51.100.7` })
      const through = await served(ADDRESSES, i => ask(port, '/', { headers: asIf(i) }))
      return { attempts: ADDRESSES, through, allowed: LIMIT }
    },
  },
  {
    name: 'one IPv6 network',
    tried: 'a new address of one /64 each',
    isQuick: true,
    async run(site) {
      const port = await limited(site, { policy: `${LIMIT}/h`, trustProxy: 1 })
      const asIf = (i: number) => ({ 'x-forwarded-for': `2001:db8:1:2:${i.toString(16)}::${(i * 7).toString(16)}` })
      const through = await served(ADDRESSES, i => ask(port, '/', { headers: asIf(i) }))
      return { attempts: ADDRESSES, through, allowed: LIMIT }
    },
  },
  {
    name: 'invented API keys',
    tried: 'a new key each',
    isQuick: true,
    async run(site) {
      const port = await limited(site, { policy: `${LIMIT}/h`, key: apiKey({ verify: key => key === 'handed-out' }) })
      const through = await served(ADDRESSES, i => ask(port, '/', { headers: { 'x-api-key': `invented-${i}` } }))
      return { attempts: ADDRESSES, through, allowed: LIMIT }
    },
  },
]

function served(count: number, send: (i: number) => Promise<{ status: number }>): Promise<number> {
  return countOf(upTo(count), 8, async i => (await send(i)).status === 200)
}
