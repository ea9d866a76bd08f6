import { fakeClock } from 'sluice/testing'
import { expect, onTestFinished, test } from 'vitest'
import { createApp } from './app.ts'

const SECOND_MS = 1000

async function serve() {
  const clock = fakeClock()
  const app = await createApp({ clock })
  onTestFinished(() => app.close())
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    clock,
    get: (path: string) => fetch(url + path),
    post: (path: string) => fetch(url + path, { method: 'POST' }),
  }
}

test('a search costs five of the ten, and passes again exactly when Retry-After says', async () => {
  const { clock, get } = await serve()
  expect((await get('/search')).headers.get('ratelimit')).toBe('"default";r=5;t=6')
  expect((await get('/search')).headers.get('ratelimit')).toBe('"default";r=0;t=6')

  const refused = await get('/search')
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toBe('30')

  clock.advance(30 * SECOND_MS - 1)
  expect((await get('/search')).status).toBe(429)
  clock.advance(1)
  expect((await get('/search')).status).toBe(200)
})

test('an export is charged to its own limit and to the bucket, or to neither', async () => {
  const { get, post } = await serve()
  expect((await post('/exports')).status).toBe(202)
  const refused = await post('/exports')
  expect(refused.status).toBe(429)
  expect(await refused.json()).toMatchObject({ 'violated-policies': ['exports'] })
  expect((await get('/orders/7')).headers.get('ratelimit')).toBe('"default";r=8;t=6')
})

test('a route without limits passes and says nothing of them', async () => {
  const { get } = await serve()
  while ((await get('/orders/7')).status === 200);
  const health = await get('/health')
  expect(health.status).toBe(200)
  expect(health.headers.has('ratelimit')).toBe(false)
})

test('the handler tells what is left', async () => {
  const { get } = await serve()
  expect(await (await get('/quota')).json()).toEqual({ remaining: 9 })
})
