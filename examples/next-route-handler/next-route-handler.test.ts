import { getRequestListener } from '@hono/node-server'
import { expect, test } from 'vitest'
import { onLoopback } from '../on-loopback.ts'
import { GET } from './app/api/reports/[id]/route.ts'

const context = (id: number) => ({ params: Promise.resolve({ id: String(id) }) })

function askFrom(address: string, id = 7): Promise<Response> {
  const headers = { 'X-Forwarded-For': address }
  return GET(new Request(`http://localhost/api/reports/${id}`, { headers }), context(id))
}

test('an address gets ten reports, whatever their ids, and then a refusal', async () => {
  const responses = await Promise.all(Array.from({ length: 12 }, (_, id) => askFrom('203.0.113.7', id)))
  expect(responses.map(response => response.status)).toEqual([...Array(10).fill(200), 429, 429])
  expect(await responses[3]!.json()).toEqual({ id: '3' })

  const refused = responses.at(-1)!
  expect(refused.headers.get('content-type')).toBe('application/problem+json')
  expect(await refused.json()).toMatchObject({ error: 'rate_limit_exceeded', 'violated-policies': ['default'] })
})

test('another address has ten of its own, and an entry that a client wrote in front is not believed', async () => {
  const passed = await askFrom('203.0.113.7, 203.0.113.8')
  expect(passed.status).toBe(200)
  expect(passed.headers.get('ratelimit')).toMatch(/^"default";r=9;t=\d+$/)
})

test('the same behind a server', async () => {
  const url = await onLoopback(getRequestListener(request => GET(request, context(7))))
  const ask = () => fetch(`${url}/api/reports/7`, { headers: { 'X-Forwarded-For': '203.0.113.9' } })
  const statuses = await Promise.all(Array.from({ length: 12 }, async () => (await ask()).status))
  expect(statuses.toSorted()).toEqual([...Array(10).fill(200), 429, 429])
})
