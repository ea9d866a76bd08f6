import { once } from 'node:events'
import { constants } from 'node:http2'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { REQUEST } from './fixtures/client.ts'
import {
  DATA,
  END_HEADERS,
  END_STREAM,
  frame,
  HEADERS,
  headerBlock,
  PREFACE,
  RST_STREAM,
  SETTINGS,
} from './fixtures/frames.ts'
import { rateLimitService } from './fixtures/protos.ts'
import { framed, outcomeOf, rawCall, rawSession, SHOULD_RATE_LIMIT } from './fixtures/raw.ts'
import { PASSED, started } from './fixtures/started.ts'

const MESSAGE = rateLimitService.ShouldRateLimit!.requestSerialize(REQUEST)
const FRAME = framed(MESSAGE)

/** `PASSED` as it comes. */
const ANSWER = '00000000080801120408011801'

const concat = (...parts: (Buffer | readonly number[])[]) => Buffer.concat(parts.map(part => Buffer.from(part)))

test('a good answer is headers, a message and trailers', async () => {
  const stream = rawCall(rawSession(await started()))
  stream.end(FRAME)
  const { http, grpc, headers, body } = await outcomeOf(stream)
  expect({ http, grpc, type: headers['content-type'], early: headers['grpc-status'] }).toEqual({
    ...{ http: 200, grpc: '0: ', type: 'application/grpc', early: undefined },
  })
  expect(body.toString('hex')).toBe(ANSWER)
})

test('a message is whole however it is cut', async () => {
  const session = rawSession(await started())
  for (let size = 1; size <= FRAME.length; size += 6) {
    const stream = rawCall(session)
    const outcome = outcomeOf(stream)
    for (let at = 0; at < FRAME.length; at += size) {
      // Each in a frame of its own.
      await new Promise(resolve => stream.write(FRAME.subarray(at, at + size), resolve))
    }
    stream.end()
    expect((await outcome).grpc).toBe('0: ')
  }
})

test.each<[what: string, body: Buffer, headers: Record<string, string>, grpc: string]>([
  ['nothing', concat(), {}, '12: expected one message, got none'],
  ['a part of a prefix', FRAME.subarray(0, 4), {}, '13: the request ends within the prefix of its message'],
  ['a prefix alone', FRAME.subarray(0, 5), {}, `13: the request ends ${MESSAGE.length} bytes before its message`],
  ['all but a byte', FRAME.subarray(0, -1), {}, '13: the request ends 1 bytes before its message'],
  ['two messages', concat(FRAME, FRAME), {}, '12: expected one message, got more'],
  ['a byte too many', concat(FRAME, [0]), {}, '12: expected one message, got more'],
  ['a length of 4 GiB', concat([0, 255, 255, 255, 255]), {}, '8: expected a message of at most 262144 bytes'],
  ['a flag of 2', framed(MESSAGE, 2), {}, '13: expected 0 or 1 as the flag of a message, got 2'],
  [
    'a compressed message of no encoding',
    framed(gzipSync(MESSAGE), 1),
    {},
    '13: got a compressed message without its encoding',
  ],
  ['what is not gzip', framed(MESSAGE, 1), { 'grpc-encoding': 'gzip' }, '13: got a message that is not valid gzip'],
  [
    'a small message that grows',
    framed(gzipSync(Buffer.alloc(300_000)), 1),
    { 'grpc-encoding': 'gzip' },
    '8: expected a message of at most 262144 bytes',
  ],
  ['an encoding of others', FRAME, { 'grpc-encoding': 'br' }, '12: expected identity or gzip as grpc-encoding'],
  ['a plain message beside gzip', FRAME, { 'grpc-encoding': 'gzip' }, '0: '],
  ['a plain message called so', FRAME, { 'grpc-encoding': 'identity' }, '0: '],
  ['a compressed message', framed(gzipSync(MESSAGE), 1), { 'grpc-encoding': 'gzip' }, '0: '],
  [
    'not protobuf',
    framed(concat([255])),
    {},
    '3: the message is not valid protobuf: expected as many bytes as were announced',
  ],
  [
    'no sense in its timeout',
    FRAME,
    { 'grpc-timeout': '20' },
    '3: expected a grpc-timeout of up to 8 digits and one of HMSmun, got 20',
  ],
  ['no time at all', FRAME, { 'grpc-timeout': '0m' }, '4: the time for this request is over'],
  ['all the time', FRAME, { 'grpc-timeout': '99999999H' }, '0: '],
])('a request with %s has a clear answer, and the connection lives on', async (_, body, headers, grpc) => {
  const session = rawSession(await started())
  const stream = rawCall(session, headers)
  stream.end(body)
  expect((await outcomeOf(stream)).grpc).toBe(grpc)
  const next = rawCall(session)
  next.end(FRAME)
  expect((await outcomeOf(next)).grpc).toBe('0: ')
})

test('an unknown encoding is answered with those that are known', async () => {
  const stream = rawCall(rawSession(await started()), { 'grpc-encoding': 'br' })
  stream.end(FRAME)
  expect((await outcomeOf(stream)).headers['grpc-accept-encoding']).toBe('identity,gzip')
})

test.each<[headers: Record<string, string>, http: number]>([
  [{ 'content-type': 'application/json' }, 415],
  [{ 'content-type': 'application/grpc-web+proto' }, 415],
  [{ 'content-type': 'application/grpc+json' }, 415],
  [{ 'content-type': '' }, 415],
  [{ ':method': 'GET' }, 405],
  [{ 'content-type': 'application/grpc+proto' }, 200],
  [{ 'content-type': 'application/grpc;charset=utf-8' }, 200],
])('what is not gRPC is told so in HTTP: %o', async (headers, http) => {
  const stream = rawCall(rawSession(await started()), headers)
  if (headers[':method'] !== 'GET') stream.end(FRAME)
  expect((await outcomeOf(stream)).http).toBe(http)
})

describe('the rest of a request', () => {
  test('that is too large is not waited for', async () => {
    const stream = rawCall(rawSession(await started(undefined, { maxMessageBytes: 1000 })))
    const outcome = outcomeOf(stream)
    stream.write(Buffer.alloc(2000))
    expect(await outcome).toMatchObject({
      grpc: '8: expected a message of at most 1000 bytes',
      rstCode: constants.NGHTTP2_NO_ERROR,
    })
  })

  test('for a method that is not there is not waited for', async () => {
    const stream = rawCall(rawSession(await started()), { ':path': '/nothing' })
    expect((await outcomeOf(stream)).grpc).toBe('12: there is no method of this name')
  })
})

test('a request that is broken off is not decided, though all of its message was there', async () => {
  let asked = 0
  const server = await started(() => {
    asked++
    return PASSED
  })
  const socket = connect(server.port, '127.0.0.1')
  const headers = headerBlock({
    ...{ ':method': 'POST', ':scheme': 'http', ':authority': 'localhost', ':path': SHOULD_RATE_LIMIT },
    'content-type': 'application/grpc',
  })
  const start = (stream: number) => [frame(HEADERS, END_HEADERS, stream, headers), frame(DATA, 0, stream, FRAME)]
  socket.write(Buffer.concat([PREFACE, frame(SETTINGS, 0, 0), ...start(1)]))
  const cancel = Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL])
  socket.write(Buffer.concat([frame(RST_STREAM, 0, 1, cancel), ...start(3), frame(DATA, END_STREAM, 3)]))
  await new Promise<void>(resolve => {
    let bytes = Buffer.alloc(0)
    socket.on('data', chunk => {
      bytes = Buffer.concat([bytes, chunk as Buffer])
      if (bytes.includes(Buffer.from(ANSWER, 'hex'))) resolve()
    })
  })
  socket.destroy()
  expect(asked).toBe(1)
})

test('an answer for somebody who has gone goes nowhere, and nothing breaks', async () => {
  let answer: (() => void) | undefined
  let isAsked: (() => void) | undefined
  const asked = new Promise<void>(resolve => {
    isAsked = resolve
  })
  const server = await started(() => {
    if (answer !== undefined) return PASSED
    isAsked!()
    return new Promise(resolve => {
      answer = () => resolve(PASSED)
    })
  })
  const session = rawSession(server)
  const gone = rawCall(session)
  gone.end(FRAME)
  await asked
  gone.close(constants.NGHTTP2_CANCEL)
  await once(gone, 'close')
  answer!()
  const next = rawCall(session)
  next.end(FRAME)
  expect((await outcomeOf(next)).grpc).toBe('0: ')
})

test('a service that is too slow for its caller is not waited for, and its answer comes to nothing', async () => {
  let answer: (() => void) | undefined
  const server = await started(
    () =>
      new Promise(resolve => {
        answer = () => resolve(PASSED)
      }),
  )
  const stream = rawCall(rawSession(server), { 'grpc-timeout': '20m' })
  stream.end(FRAME)
  expect(await outcomeOf(stream)).toMatchObject({ grpc: '4: the time for this request is over', body: concat() })
  answer!()
})

const inAWhile = () => new Promise<typeof PASSED>(resolve => setTimeout(resolve, 20, PASSED))

test('a caller that would wait for ever is not told that its time is over', async () => {
  const stream = rawCall(rawSession(await started(inAWhile)), { 'grpc-timeout': '99999999H' })
  stream.end(FRAME)
  expect((await outcomeOf(stream)).grpc).toBe('0: ')
})

test.each([
  ['too long', { 'x-long': 'x'.repeat(20_000) }],
  ['too many', Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`x-${i}`, 'x']))],
])('headers that are %s cost their sender the stream', async (_, headers) => {
  const session = rawSession(await started())
  await once(session, 'remoteSettings') // that is, when it has been told how long they may be
  const stream = rawCall(session, headers)
  stream.end(FRAME)
  expect(await outcomeOf(stream)).toMatchObject({ http: undefined, rstCode: constants.NGHTTP2_ENHANCE_YOUR_CALM })
  const next = rawCall(session)
  next.end(FRAME)
  expect((await outcomeOf(next)).grpc).toBe('0: ')
})

test('more streams at once than are allowed are refused unasked, and the others served', async () => {
  const waiting: (() => void)[] = []
  const server = await started(() => new Promise(resolve => waiting.push(() => resolve(PASSED))), {
    maxConcurrentStreams: 2,
  })
  const session = rawSession(server)
  // Before it knows better, a client takes it that there is no limit.
  const outcomes = Array.from({ length: 3 }, () => {
    const stream = rawCall(session)
    stream.end(FRAME)
    return outcomeOf(stream)
  })
  expect(await outcomes[2]).toMatchObject({ rstCode: constants.NGHTTP2_REFUSED_STREAM })
  for (const answer of waiting) answer()
  expect([(await outcomes[0])?.grpc, (await outcomes[1])?.grpc, waiting.length]).toEqual(['0: ', '0: ', 2])
})

test.each([
  ['HTTP/1.1', 'GET / HTTP/1.1\r\n\r\n'],
  ['TLS', '\x16\x03\x01\x02\x00\x01\x00'],
  ['nothing', '\0'.repeat(100)],
])('who speaks %s is cut off, and nobody else', async (_, text) => {
  const server = await started()
  const socket = connect(server.port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(text)
  socket.resume()
  await once(socket, 'close')
  const next = rawCall(rawSession(server))
  next.end(FRAME)
  expect((await outcomeOf(next)).grpc).toBe('0: ')
})
