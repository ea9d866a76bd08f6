import { describe, expect, onTestFinished, test } from 'vitest'
import { served } from '../fixtures/http/served.ts'
import { ask } from '../fixtures/proxies/ask.ts'
import { RawClient } from '../fixtures/resp/raw-client.ts'

const RULES = 'limits: { per-user: { key: user, sliding-log: 1000/1h } }'

async function connected(port: number): Promise<RawClient> {
  const client = await RawClient.connected(port)
  onTestFinished(() => client.close())
  return client
}

const posted = (body: string, path = '/v1/check') =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

describe('pages', () => {
  test.each([
    ['/healthz', 'text/plain', /^ok\n$/],
    ['/readyz', 'text/plain', /^ready\n$/],
    ['/metrics', 'text/plain; version=0.0.4; charset=utf-8', /^# HELP /],
    ['/openapi.json', 'application/json', /^\{"openapi":"3\.1\.0"/],
    ['/', 'text/html; charset=utf-8', /^<!doctype html>/],
  ])('%s is there, by GET and by HEAD', async (path, type, text) => {
    const { ports } = await served(RULES)
    const got = await ask(ports.http, path)
    expect(got).toMatchObject({ status: 200, headers: { 'content-type': type } })
    expect(got.body).toMatch(text)
    const head = await ask(ports.http, path, { method: 'HEAD' })
    expect(head).toMatchObject({ status: 200, body: '', headers: { 'content-type': type } })
    if (path !== '/metrics') expect(head.headers['content-length']).toBe(got.headers['content-length'])
  })

  test.each<[method: string, path: string, status: number, allow: string | undefined]>([
    ['POST', '/healthz', 405, 'GET, HEAD'],
    ['DELETE', '/', 405, 'GET, HEAD'],
    ['POST', '/metrics', 405, 'GET, HEAD'],
    ['GET', '/v1/check', 405, 'POST'],
    ['HEAD', '/v1/check', 405, 'POST'],
    ['PUT', '/v1/reset', 405, 'POST'],
    ['OPTIONS', '/v1/modes', 405, 'GET, HEAD, POST'],
    ['POST', '/v1/explain', 405, 'GET, HEAD'],
    ['HEAD', '/v1/explain?user=1', 200, undefined],
    ['GET', '/nothing', 404, undefined],
    ['GET', '/v1/check/', 404, undefined],
    ['GET', '//v1/explain', 404, undefined],
    ['GET', '/V1/explain', 404, undefined],
    ['POST', '/v1/../v1/check', 404, undefined],
    ['GET', '/page.html', 404, undefined],
    ['GET', '/%2e%2e/settings.ts', 404, undefined],
  ])('%s %s is %i', async (method, path, status, allow) => {
    const { ports } = await served(RULES)
    const answer = await ask(ports.http, path, { method })
    expect([answer.status, answer.headers.allow]).toEqual([status, allow])
  })
})

test('requests sent without waiting are answered in their order', async () => {
  const { ports } = await served(RULES)
  const client = await connected(ports.http)
  const users = Array.from({ length: 50 }, (_, i) => `{"user":"${i % 2}"}`)
  client.send(users.map(body => posted(body)).join('') + posted('{"user":"last","cost":1000}'))
  const text = await client.until(
    '"remaining":0,"resetAt":1800018000000,"resetAfterMs":3600000,"retryAfterMs":0,"shadow":false,"cached":false}]}',
  )
  const remaining = [...text.matchAll(/"policy":"per-user","limit":1000,"remaining":(\d+)/g)].map(([, left]) =>
    Number(left),
  )
  expect(remaining).toEqual([...users.map((_, i) => 999 - (i >> 1)), 0])
})

describe('a large client', () => {
  const MOST = 1_048_576
  const padded = (bytes: number) => `{"user":"1"${' '.repeat(bytes - 12)}}`

  test('may send a body of 1 MiB', async () => {
    const { post } = await served(RULES)
    expect((await post('/v1/check', padded(MOST))).status).toBe(200)
    expect((await post('/v1/check', padded(MOST + 1))).status).toBe(413)
  })

  test('that sends one byte more gets 413, and may go on over the same connection', async () => {
    const { ports } = await served(RULES)
    const client = await connected(ports.http)
    const error = `{"error":"expected a body of at most ${MOST} bytes"}`
    expect(await client.send(posted(padded(MOST + 1))).until(error)).toMatch(/^HTTP\/1\.1 413 /)
    expect(await client.send(posted('{"user":"1"}')).until(']}')).toMatch(/^HTTP\/1\.1 200 .*"remaining":999/s)
  })

  test('without a Content-Length gets 413 as soon as the body is too large, even if it sends on', async () => {
    const { ports } = await served(RULES)
    const client = await connected(ports.http)
    client.send('POST /v1/check HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n')
    client.send(`100001\r\n${' '.repeat(MOST + 1)}\r\n`)
    expect(await client.until('bytes"}')).toMatch(/^HTTP\/1\.1 413 /)
    client.send('2\r\n{}\r\n0\r\n\r\n')
    expect(await client.send(posted('{"user":"1"}')).until(']}')).toMatch(/^HTTP\/1\.1 200 /)
  })

  test('with 16 KiB of headers gets 431 and is disconnected', async () => {
    const { ports } = await served(RULES)
    const client = await connected(ports.http)
    client.send(`GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(16_384)}\r\n\r\n`)
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 431 /)
  })

  test('with a long address gets 431, too', async () => {
    const { ports } = await served(RULES)
    const client = await connected(ports.http)
    client.send(`GET /v1/explain?user=${'x'.repeat(65_536)} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    expect(await client.untilClosed()).toMatch(/^(HTTP\/1\.1 431 .*)?$/s)
  })
})

test.each([
  ['no HTTP', 'hello\r\n\r\n'],
  ['another version', 'GET / HTTP/3.0\r\n\r\n'],
  ['no Host', 'GET / HTTP/1.1\r\n\r\n'],
  ['a header that is none', 'GET / HTTP/1.1\r\nHost: localhost\r\nno colon\r\n\r\n'],
  ['a size that is none', 'POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n'],
  ['two sizes', 'POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}'],
  [
    'a size and chunks',
    'POST /v1/check HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['a chunk that is none', 'POST /v1/check HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n'],
])('%s gets 400 and closes that connection only', async (_, bytes) => {
  const { ports } = await served(RULES)
  const other = await connected(ports.http)
  const client = await connected(ports.http)
  expect(await client.send(bytes).untilClosed()).toMatch(/^HTTP\/1\.1 400 /)
  expect(await other.send(posted('{"user":"1"}')).until(']}')).toMatch(/^HTTP\/1\.1 200 /)
})
