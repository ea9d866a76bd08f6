import { expect, test } from 'vitest'
import { served } from '../../fixtures/http/served.ts'

const RULES = 'limits: { per-user: { key: user, sliding-log: 9/1h } }'

test('the studio is served at /, with a policy that lets it run nothing but its own files', async () => {
  const { get } = await served(RULES)
  const { status, headers, body } = await get('/')
  expect(status, 'run npm run build:studio first').toBe(200)
  expect(body).toContain('<div id="app">')
  const policy = String(headers['content-security-policy']).split('; ')
  expect(policy).toEqual(expect.arrayContaining(["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"]))
  expect(policy.join()).not.toContain('unsafe')
  expect(headers['x-content-type-options']).toBe('nosniff')
})

test('every file that the page names is served, and the page names no file of another site', async () => {
  const { get } = await served(RULES)
  const { body } = await get('/')
  const named = [...body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address!)
  expect(named.length).toBeGreaterThan(2)
  for (const address of named) {
    expect(address).toMatch(/^\.\//)
    const file = await get(address.slice(1))
    expect(file.status, address).toBe(200)
    expect(file.body).not.toMatch(/@import|url\(\s*['"]?(https?:)?\/\//)
  }
})

test.each(['/assets/../sample.yaml', '/assets/%2e%2e/package.json', '/index.html.map', '/assets/'])(
  'nothing beside the built files is served: %s',
  async path => {
    const { get } = await served(RULES)
    expect((await get(path)).status).toBe(404)
  },
)
