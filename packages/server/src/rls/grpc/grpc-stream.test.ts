import { once } from 'node:events'
import { constants } from 'node:http2'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { GOOD_FRAME, outcomeOf, rawCall, rawSession, served } from '../../fixtures/rls/raw.ts'
import { holding, started } from '../../fixtures/rls/started.ts'

test('a good answer is headers, a message and trailers', async () => {
  const stream = rawCall(rawSession(await started()))
  stream.end(GOOD_FRAME)
  const { http, grpc, headers, body } = await outcomeOf(stream)
  expect({ http, grpc, type: headers['content-type'], early: headers['grpc-status'] }).toEqual({
    ...{ http: 200, grpc: '0: ', type: 'application/grpc', early: undefined },
  })
  expect(body.toString('hex')).toBe('00000000080801120408011801')
})

test.each<[headers: Record<string, string>, http: number]>([
  [{ 'content-type': 'application/json' }, 415],
  [{ 'content-type': 'application/grpc-web+proto' }, 415],
  [{ 'content-type': 'application/grpc+json' }, 415],
  [{ 'content-type': '' }, 415],
  [{ ':method': 'GET' }, 405],
  [{ 'content-type': 'application/grpc+proto' }, 200],
  [{ 'content-type': 'application/grpc;charset=utf-8' }, 200],
])('a request that is not gRPC gets an HTTP error: %o', async (headers, http) => {
  const stream = rawCall(rawSession(await started()), headers)
  if (headers[':method'] !== 'GET') stream.end(GOOD_FRAME)
  expect((await outcomeOf(stream)).http).toBe(http)
})

test.each([
  ['too long', { 'x-long': 'x'.repeat(20_000) }],
  ['too many', Object.fromEntries(Array.from({ length: 110 }, (_, i) => [`x-${i}`, 'x']))],
])('headers that are %s reset the stream', async (_, headers) => {
  const session = rawSession(await started())
  await once(session, 'remoteSettings') // that is, when it has been told how long they may be
  const stream = rawCall(session, headers)
  stream.end(GOOD_FRAME)
  expect(await outcomeOf(stream)).toMatchObject({ http: undefined, rstCode: constants.NGHTTP2_ENHANCE_YOUR_CALM })
  expect(await served(session)).toBe('0: ')
})

test('streams beyond the allowed number are refused without a decision, and the others are served', async () => {
  const { shouldRateLimit, asked, letGo } = holding(2)
  const session = rawSession(await started(shouldRateLimit, { maxConcurrentStreams: 2 }))
  // Before it knows better, a client takes it that there is no limit.
  const outcomes = Array.from({ length: 3 }, () => {
    const stream = rawCall(session)
    stream.end(GOOD_FRAME)
    return outcomeOf(stream)
  })
  expect(await outcomes[2]).toMatchObject({ rstCode: constants.NGHTTP2_REFUSED_STREAM })
  await asked
  letGo()
  expect([(await outcomes[0])?.grpc, (await outcomes[1])?.grpc]).toEqual(['0: ', '0: '])
})

test.each([
  ['HTTP/1.1', 'GET / HTTP/1.1\r\n\r\n'],
  ['TLS', '\x16\x03\x01\x02\x00\x01\x00'],
  ['nothing', '\0'.repeat(100)],
])('a client that speaks %s is cut off, and no other client is', async (_, text) => {
  const server = await started()
  const socket = connect(server.port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(text)
  socket.resume()
  await once(socket, 'close')
  expect(await served(rawSession(server))).toBe('0: ')
})
