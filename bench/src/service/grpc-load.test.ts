import { createServer, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { body } from './grpc-frames.ts'
import { GrpcLoad } from './grpc-load.ts'

const OK = Buffer.from('00000000020801', 'hex')
const OVER_LIMIT = Buffer.from('00000000020802', 'hex')

interface Seen {
  readonly path: string | undefined
  readonly type: string | undefined
  readonly body: string
}

/** A server of node:http2 that answers every request as it is told to. */
async function serving(answer: (stream: ServerHttp2Stream, call: number) => void) {
  const seen: Seen[] = []
  let calls = 0
  const server = createServer()
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = []
    stream.on('error', () => {})
    stream.on('data', chunk => chunks.push(chunk as Buffer))
    stream.on('end', () => {
      seen.push({ path: headers[':path'], type: headers['content-type'], body: Buffer.concat(chunks).toString('hex') })
      answer(stream, calls++)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const bodies = [body('edge', 'user', 'a'), body('edge', 'user', 'b')]
  const load = await GrpcLoad.to({ port, connections: 2, inFlight: 3, bodies })
  onTestFinished(() => load.close())
  return { load, seen }
}

const saying = (message: Buffer) => (stream: ServerHttp2Stream) => {
  stream.respond({ ':status': 200 }, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': 0 }))
  stream.end(message)
}

test('every call is a request that a server of HTTP/2 understands, body after body', async () => {
  const { load, seen } = await serving(saying(OK))
  expect(await load.send(20)).toBe(20)
  const message = (value: string) => `00000000130a0465646765120b0a090a04757365721201${value}`
  expect(seen).toHaveLength(20)
  expect(new Set(seen.map(one => one.body))).toEqual(new Set([message('61'), message('62')]))
  for (const { path, type } of seen) {
    expect(path).toBe('/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit')
    expect(type).toBe('application/grpc')
  }
})

test('a call counts if its answer says OK', async () => {
  const { load } = await serving((stream, call) => {
    if (call % 4 === 0) saying(OVER_LIMIT)(stream)
    else if (call % 4 === 1) stream.respond({ ':status': 200, 'grpc-status': 14 }, { endStream: true })
    else saying(OK)(stream)
  })
  expect(await load.send(40)).toBe(20)
})

test('a stream that is broken off is a failure', async () => {
  const { load } = await serving(stream => stream.close(2))
  await expect(load.send(10)).rejects.toThrow('the server broke off: 00000002')
})

test('some of the calls are timed, and all of those at a pace', async () => {
  const { load } = await serving(saying(OK))
  await load.send(34)
  expect(load.takeLatencies()).toHaveLength(2)
  expect(await load.pace(1000, 30)).toBe(30)
  expect(load.takeLatencies()).toHaveLength(30)
})
