import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { INestApplication } from '@nestjs/common'
import type { Clock } from 'sluice'
import { fakeClock } from 'sluice/testing'
import { beforeAll, expect, onTestFinished, test } from 'vitest'

const SECOND_MS = 1000
/** To start a compiler, or to load Nest, on a busy machine. */
const SLOW_MS = 60_000

const here = (file: string) => new URL(file, import.meta.url)

interface Example {
  createApp(settings: { clock: Clock }): Promise<INestApplication>
}

let example: Example
beforeAll(async () => {
  // Not by its name: the compiler would follow it, with settings that have other decorators.
  example = await import(here('app.mts').href)
}, SLOW_MS)

async function serve() {
  const clock = fakeClock()
  const app = await example.createApp({ clock })
  onTestFinished(() => app.close())
  await app.listen(0, '127.0.0.1')
  const url = await app.getUrl()
  return { clock, ask: (path: string, method = 'GET') => fetch(url + path, { method }) }
}

test('the sources type-check by the settings of a Nest project', { timeout: SLOW_MS }, () => {
  const tsc = fileURLToPath(here('../../node_modules/.bin/tsc'))
  const { status, stdout } = spawnSync(tsc, ['-p', fileURLToPath(here('.'))], { encoding: 'utf8' })
  expect([status, stdout]).toEqual([0, ''])
})

test('a search costs five of the ten, and passes again exactly when Retry-After says', async () => {
  const { clock, ask } = await serve()
  expect((await ask('/orders/search')).headers.get('ratelimit')).toBe('"default";r=5;t=6')
  expect((await ask('/orders/search')).headers.get('ratelimit')).toBe('"default";r=0;t=6')

  const refused = await ask('/orders/search')
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toBe('30')
  expect(await refused.json()).toMatchObject({ error: 'rate_limit_exceeded', 'violated-policies': ['default'] })

  clock.advance(30 * SECOND_MS - 1)
  expect((await ask('/orders/search')).status).toBe(429)
  clock.advance(1)
  expect((await ask('/orders/search')).status).toBe(200)
})

test('an export is charged to its own limit and to the bucket, or to neither', async () => {
  const { ask } = await serve()
  expect((await ask('/orders/export', 'POST')).status).toBe(201)
  const refused = await ask('/orders/export', 'POST')
  expect(refused.status).toBe(429)
  expect(await refused.json()).toMatchObject({ 'violated-policies': ['exports'] })
  expect((await ask('/orders')).headers.get('ratelimit')).toBe('"default";r=8;t=6')
})

test('a controller without limits passes and says nothing of them', async () => {
  const { ask } = await serve()
  while ((await ask('/orders')).status === 200);
  const health = await ask('/health')
  expect(health.status).toBe(200)
  expect(health.headers.has('ratelimit')).toBe(false)
})
