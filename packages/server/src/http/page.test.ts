import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { API } from './api.ts'
import { served } from './fixtures/served.ts'
import { PAGE } from './page.ts'

const html = String(PAGE.body)
const [, script = ''] = /<script type="module">(.*?)<\/script>/s.exec(html) ?? []
const PAGES = ['/openapi.json', '/metrics']

test('the page is one file that asks for nothing of anybody else', () => {
  expect(html.match(/<(script|style|link|img|iframe|object|embed|base|meta http-equiv)\b[^>]*/g)).toEqual([
    '<style',
    '<script type="module"',
  ])
  expect(html).not.toMatch(/(https?:)?\/\/\w/)
  expect(html).not.toMatch(/url\(|@import|\bimport\b|\bon\w+=/)
})

test('its script is a script, and calls what there is', () => {
  // Throws at what is not JavaScript; nothing is run.
  expect(() => new Function(`'use strict'; async () => {${script}}`)).not.toThrow()
  const called = [...script.matchAll(/fetch\(\s*['"`](\/[^'"`?]*)/g)].map(([, path]) => path)
  expect(called.length).toBeGreaterThan(0)
  expect(called.filter(path => !API.some(route => route.path === path))).toEqual([])
  const linked = [...html.matchAll(/href="([^"]*)"/g)].map(([, path]) => path!)
  expect(linked.filter(path => !PAGES.includes(path))).toEqual([])
})

test('a browser is told to run that script, to ask this service, and nothing else', async () => {
  const { get } = await served('limits: { per-user: { key: user, sliding-log: 9/1h } }')
  const { headers, body } = await get('/')
  expect(body).toBe(html)
  const hash = createHash('sha256').update(script).digest('base64')
  const policy = String(headers['content-security-policy']).split('; ')
  expect(policy).toEqual(
    expect.arrayContaining(["default-src 'none'", `script-src 'sha256-${hash}'`, "connect-src 'self'"]),
  )
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy.join()).not.toContain('unsafe')
  expect(headers['x-content-type-options']).toBe('nosniff')
})
