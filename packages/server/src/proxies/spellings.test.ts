import { posix } from 'node:path'
import { startNginx } from 'sluice-harness'
import { expect, test } from 'vitest'
import { remaining } from '../fixtures/proxies/ask.ts'
import { documented } from '../fixtures/proxies/documented.ts'
import { login, siteBehind } from '../fixtures/proxies/proxy-suite.ts'

const USERS = { 'users.htpasswd': 'alice:{PLAIN}secret\n' }
/** What nginx hands on where it has found the login itself. */
const FOUND_BY_NGINX = '/found-by-nginx'

/** How an app behind nginx may find the path of what nginx hands on. */
const READERS: Readonly<Record<string, (target: string) => string>> = {
  'new URL()': target => new URL(target, 'http://site.test').pathname,
  'new URL(), decoded': target => decodeURIComponent(new URL(target, 'http://site.test').pathname),
  'path.normalize': target => posix.normalize(decodeURIComponent(target.split(/[?#;]/)[0]!)),
}

/** Spellings of the login that got past the limit on it, or nearly did. */
const SPELLINGS: readonly string[] = [
  `/${'./'.repeat(130)}login`,
  `/${'a/../'.repeat(65)}login`,
  `${'/'.repeat(130)}login`,
  '/%ff/%2e%2e/login',
  '/x/..\\login',
  '/x%2f..%2flogin',
  '/search/foo%2F..%2F..%2Flogin',
  '//x/login',
  '/\\x/login',
  '/login;x/y',
  '/a//../login',
  '/%6cogin',
]

const behindNginx = (more: string) =>
  siteBehind(
    (sluicePort, appPort) =>
      startNginx(
        port =>
          documented('nginx.conf', {
            'listen 80;': `listen 127.0.0.1:${port};`,
            '127.0.0.1:8080': `127.0.0.1:${sluicePort}`,
            '127.0.0.1:3000': `127.0.0.1:${appPort}`,
            'location = /health {': `${more} location = /health {`,
          }),
        USERS,
      ),
    {},
  )

test('every spelling that reaches /login behind nginx is counted by its limit', async () => {
  const { app, get } = await behindNginx(
    `location = /login { set $sluice_user ""; proxy_pass http://app${FOUND_BY_NGINX}; }`,
  )
  const found = new Set<string>()
  for (const [i, spelling] of SPELLINGS.entries()) {
    const answer = await get(spelling, { ...login, from: `127.0.1.${i + 1}` })
    const { url } = app.served.pop()!
    const readers = url === FOUND_BY_NGINX ? ['nginx'] : Object.keys(READERS).filter(name => finds(READERS[name]!, url))
    expect(readers, spelling).not.toEqual([])
    expect(remaining(answer), `${spelling}, read by ${readers}`).toHaveProperty('login')
    for (const reader of readers) found.add(reader)
  }
  expect([...found].sort()).toEqual(['nginx', ...Object.keys(READERS)].sort())
})

test('a request that nginx serves without asking is passed on as nginx has read it', async () => {
  const { app, get } = await behindNginx('')
  expect(remaining(await get('/login;x/../health', login))).toEqual({})
  expect(app.served.map(({ url }) => url)).toEqual(['/health'])
})

function finds(read: (target: string) => string, url: string): boolean {
  try {
    return read(url) === '/login'
  } catch {
    return false
  }
}
