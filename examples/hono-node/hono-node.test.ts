import { getRequestListener } from '@hono/node-server'
import { fakeClock } from 'sluice/testing'
import { expect, test } from 'vitest'
import { onLoopback } from '../on-loopback.ts'
import { createApp } from './app.ts'

const MINUTE_MS = 60_000

async function serve() {
  const clock = fakeClock()
  const url = await onLoopback(getRequestListener(createApp({ clock }).fetch))
  const ask = (key: string) => fetch(`${url}/api/orders/7`, { headers: { 'X-API-Key': key } })
  return { clock, url, ask }
}

test('every key that was handed out has five requests a minute', async () => {
  const { clock, ask } = await serve()
  for (let i = 1; i <= 5; i++) expect((await ask('key-of-fay')).status).toBe(200)
  expect((await ask('key-of-fay')).status).toBe(429)
  expect((await ask('key-of-pat')).status).toBe(200)
  clock.advance(2 * MINUTE_MS)
  expect((await ask('key-of-fay')).status).toBe(200)
})

test('invented keys share one limit', async () => {
  const { ask } = await serve()
  const statuses = await Promise.all(Array.from({ length: 10 }, async (_, i) => (await ask(`invented-${i}`)).status))
  expect(statuses.filter(status => status === 200)).toHaveLength(5)
})

test('both families of headers say the same', async () => {
  const { headers } = await (await serve()).ask('key-of-fay')
  expect(headers.get('ratelimit')).toBe('"default";r=4;t=60')
  expect(headers.get('x-ratelimit-limit')).toBe('5')
  expect(headers.get('x-ratelimit-remaining')).toBe('4')
})

test('what is outside of the guarded path has no limit', async () => {
  const { url } = await serve()
  expect((await fetch(url)).headers.has('ratelimit')).toBe(false)
})

test('the handler tells what is left', async () => {
  const { url } = await serve()
  expect(await (await fetch(`${url}/api/quota`)).json()).toEqual({ remaining: 4 })
})
