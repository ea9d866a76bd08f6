import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { until } from 'sluice-harness'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeConsumer } from '../fixtures/http/runtimes/consumer.ts'
import { folderOf, RUNTIMES, type Running, start } from '../fixtures/http/runtimes/runtime.ts'
import { peerOf } from './adapters/peer-address.ts'

/** Who asks, where a header says it: this one is only believed behind Cloudflare's edge. */
const CLIENT = { 'cf-connecting-ip': '203.0.113.9' }

const folder = mkdtempSync(join(tmpdir(), 'sluice-runtimes-'))

beforeAll(() => makeConsumer(folder), 60_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

/** What each limit has left, of a response's fields. */
function left(field: string | string[] | null | undefined): string[] {
  return [...String(field).matchAll(/"([^"]+)";r=(\d+)/g)].map(([, name, count]) => `${name} ${count}`)
}

for (const runtime of RUNTIMES) {
  const missing = runtime.pkg !== undefined && folderOf(runtime.pkg) === undefined
  const address = runtime.name === 'workerd' ? CLIENT['cf-connecting-ip'] : '127.0.0.1'

  describe.skipIf(missing)(missing ? `${runtime.name} (${runtime.pkg} is not installed)` : runtime.name, () => {
    let running: Running | undefined
    beforeAll(async () => {
      running = await start(runtime, folder)
    })
    afterAll(() => running?.stop())

    const get = (path: string, headers: Record<string, string> = CLIENT) =>
      fetch(`http://127.0.0.1:${running?.port}${path}`, { headers, redirect: 'manual' })

    /** A request whose body is being sent; the site answers with the same body, as it comes. */
    async function echo(path: string): Promise<[ClientRequest, IncomingMessage]> {
      const sent = request({ port: running?.port, host: '127.0.0.1', path, method: 'POST', headers: CLIENT })
      sent.on('error', () => {})
      sent.write('one ')
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      return [sent, response]
    }

    describe.each(['fetch', 'hono'])('%s', adapter => {
      test('of ten requests at once five pass, and the others are refused', async () => {
        const answers = await Promise.all(Array.from({ length: 10 }, () => get(`/${adapter}/hello`)))
        const bodies = await Promise.all(answers.map(answer => answer.text()))
        const passed = answers.filter(({ status }) => status === 200)
        const fields = passed.map(({ headers }) => left(headers.get('ratelimit')).join())
        expect(fields.sort()).toEqual(['default 0', 'default 1', 'default 2', 'default 3', 'default 4'])
        expect(bodies.filter(body => body === address)).toHaveLength(5)

        const refused = answers.findIndex(({ status }) => status === 429)
        const { headers } = answers[refused]!
        expect(headers.get('content-type')).toBe('application/problem+json')
        expect(headers.get('cache-control')).toBe('no-store')
        expect(headers.get('retry-after')).toBe('720')
        expect(JSON.parse(bodies[refused]!)).toMatchObject({ status: 429, 'violated-policies': ['default'] })
        // By the runtime's clock and by ours.
        const resetInSeconds = Number(headers.get('x-ratelimit-reset')) - Date.now() / 1000
        expect(Math.abs(resetInSeconds - 720)).toBeLessThan(60)
      })

      test('a response that cannot be changed has its fields all the same', async () => {
        const { status, headers } = await get(`/${adapter}/elsewhere`)
        expect([status, headers.get('location'), ...left(headers.get('ratelimit'))]).toEqual([
          302,
          'https://example.com/',
          'default 4',
        ])
      })

      test('a slot is held until the body has come to its end, and then the bytes are known', async () => {
        const [sent, response] = await echo(`/${adapter}/echo`)
        expect(left(response.headers.ratelimit as string)).toEqual(['slot 0', 'bytes 999'])
        const [, refused] = await echo(`/${adapter}/echo`)
        expect([refused.statusCode, JSON.parse(await text(refused))]).toMatchObject([
          429,
          { 'violated-policies': ['slot'] },
        ])
        sent.end('and two')
        expect(await text(response)).toBe('one and two')
        const [next, later] = await echo(`/${adapter}/echo`)
        expect([later.statusCode, ...left(later.headers.ratelimit as string)]).toEqual([200, 'slot 0', 'bytes 988'])
        next.end()
        await text(later)
      })

      test('a slot is given back when the client leaves', async () => {
        const [sent, response] = await echo(`/${adapter}/echo`)
        expect(response.statusCode).toBe(200)
        sent.destroy()
        await until('the slot is free', async () => {
          const [again, answer] = await echo(`/${adapter}/echo`)
          again.end()
          await text(answer)
          return answer.statusCode === 200
        })
      })
    })
  })
}

class BunServer {
  readonly address = '192.0.2.7'
  requestIP() {
    return { address: this.address }
  }
}

test.each<[what: string, beside: unknown, peer: string | undefined]>([
  ['nothing', undefined, undefined],
  ['no object', null, undefined],
  ["Next.js' parameters", { params: Promise.resolve({}) }, undefined],
  ['a request of Node', { incoming: { socket: { remoteAddress: '192.0.2.7' } } }, '192.0.2.7'],
  ['a request of Node whose client has gone', { incoming: { socket: null } }, undefined],
  ["Deno's information", { remoteAddr: { hostname: '192.0.2.7' } }, '192.0.2.7'],
  ["Deno's information about a Unix socket", { remoteAddr: { path: '/run/site.sock' } }, undefined],
  ["Bun's server", new BunServer(), '192.0.2.7'],
  ["Bun's server under its name", { server: new BunServer() }, '192.0.2.7'],
  ["Bun's server when the client has gone", { requestIP: () => null }, undefined],
  ['something else of that name', { server: { requestIP: () => ({ address: {} }) } }, undefined],
])('the other end of the connection, from %s', (_, beside, peer) => {
  expect(peerOf(new Request('http://localhost/'), beside)).toBe(peer)
})
