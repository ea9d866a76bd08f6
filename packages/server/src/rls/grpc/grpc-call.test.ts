import { once } from 'node:events'
import { constants, createServer } from 'node:http2'
import { type AddressInfo, connect } from 'node:net'
import { http2 } from 'sluice-harness'
import { describe, expect, onTestFinished, test } from 'vitest'
import { headerBlock } from '../../fixtures/rls/frames.ts'
import { GOOD_FRAME, outcomeOf, rawCall, rawSession, SHOULD_RATE_LIMIT, served } from '../../fixtures/rls/raw.ts'
import { holding, PASSED, started } from '../../fixtures/rls/started.ts'
import { ResponseQueue } from '../../net/response-queue.ts'
import { type CallContext, GrpcCall, type Method } from './grpc-call.ts'
import { OpenCalls } from './open-calls.ts'

const REQUEST_HEADERS = {
  ...{ ':method': 'POST', ':scheme': 'http', ':authority': 'localhost', ':path': SHOULD_RATE_LIMIT },
  'content-type': 'application/grpc',
}
const OVER = '4: the time for this request is over'

describe('the rest of a request', () => {
  test('is not awaited if the request is too large', async () => {
    const stream = rawCall(rawSession(await started(undefined, { maxMessageBytes: 1000 })))
    const outcome = outcomeOf(stream)
    stream.write(Buffer.alloc(2000))
    expect(await outcome).toMatchObject({
      grpc: '8: expected a message of at most 1000 bytes',
      rstCode: constants.NGHTTP2_NO_ERROR,
    })
  })

  test('is not awaited if the method does not exist', async () => {
    const stream = rawCall(rawSession(await started()), { ':path': '/nothing' })
    expect((await outcomeOf(stream)).grpc).toBe('12: there is no method of this name')
  })
})

test.each([
  ['CANCEL', constants.NGHTTP2_CANCEL],
  ['INTERNAL_ERROR', constants.NGHTTP2_INTERNAL_ERROR],
])('a request that is reset with %s is not decided, even if its whole message has arrived', async (_, code) => {
  let asked = 0
  const server = await started(() => {
    asked++
    return PASSED
  })
  const headers = headerBlock(REQUEST_HEADERS)
  const start = (stream: number) => [
    http2.frame(http2.HEADERS, http2.END_HEADERS, stream, headers),
    http2.frame(http2.DATA, 0, stream, GOOD_FRAME),
  ]
  const broken = [...start(1), http2.frame(http2.RST_STREAM, 0, 1, Buffer.from([0, 0, 0, code]))]
  const whole = [...start(3), http2.frame(http2.DATA, http2.END_STREAM, 3)]
  const socket = connect(server.port, '127.0.0.1')
  socket.write(Buffer.concat([http2.PREFACE, http2.frame(http2.SETTINGS, 0, 0), ...broken, ...whole]))
  // The second is served.
  const answer = Buffer.from('00000000080801120408011801', 'hex')
  await new Promise<void>(resolve => {
    let bytes = Buffer.alloc(0)
    socket.on('data', chunk => {
      bytes = Buffer.concat([bytes, chunk as Buffer])
      if (bytes.includes(answer)) resolve()
    })
  })
  socket.destroy()
  expect(asked).toBe(1)
})

test.each([
  ['a good request', {}],
  ['no method', { ':path': '/nothing' }],
  ['no gRPC', { 'content-type': 'text/plain' }],
])('a stream that is reset as soon as it is open breaks nothing: %s', async (_, headers) => {
  const server = await started()
  const socket = connect(server.port, '127.0.0.1')
  const start = http2.frame(http2.HEADERS, http2.END_HEADERS, 1, headerBlock({ ...REQUEST_HEADERS, ...headers }))
  const stop = http2.frame(http2.RST_STREAM, 0, 1, Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL]))
  socket.write(Buffer.concat([http2.PREFACE, http2.frame(http2.SETTINGS, 0, 0), start, stop]))
  await once(socket, 'data')
  expect(await served(rawSession(server))).toBe('0: ')
  socket.destroy()
})

test('an answer to a caller that has gone is dropped without an error', async () => {
  const heard: unknown[] = []
  const { shouldRateLimit, asked, letGo } = holding()
  const session = rawSession(await started(shouldRateLimit, { onError: error => heard.push(error) }))
  const gone = rawCall(session)
  gone.end(GOOD_FRAME)
  await asked
  gone.close(constants.NGHTTP2_CANCEL)
  expect(await served(session)).toBe('0: ') // so what came before it has been read
  letGo()
  expect(await served(session)).toBe('0: ')
  expect(heard).toEqual([])
})

describe('the deadline of a caller', () => {
  test('ends the wait for a slow service, whose answer is then dropped', async () => {
    const { shouldRateLimit, letGo } = holding()
    const stream = rawCall(rawSession(await started(shouldRateLimit)), { 'grpc-timeout': '20m' })
    stream.end(GOOD_FRAME)
    expect(await outcomeOf(stream)).toMatchObject({ grpc: OVER, body: Buffer.alloc(0) })
    letGo()
  })

  test('may come together with the answer, and the caller gets one of the two', async () => {
    const heard: unknown[] = []
    const inAWhile = () => new Promise<typeof PASSED>(resolve => setTimeout(resolve, 20, PASSED))
    const session = rawSession(await started(inAWhile, { onError: error => heard.push(error) }))
    const outcomes = Array.from({ length: 100 }, (_, i) => {
      const stream = rawCall(session, { 'grpc-timeout': `${18_000 + i * 40}u` })
      stream.end(GOOD_FRAME)
      return outcomeOf(stream)
    })
    for (const outcome of outcomes) expect(['0: ', OVER]).toContain((await outcome).grpc)
    expect(heard).toEqual([])
  })

  test('may be further off than the longest timer', async () => {
    const inAWhile = () => new Promise<typeof PASSED>(resolve => setTimeout(resolve, 20, PASSED))
    const stream = rawCall(rawSession(await started(inAWhile)), { 'grpc-timeout': '99999999H' })
    stream.end(GOOD_FRAME)
    expect((await outcomeOf(stream)).grpc).toBe('0: ')
  })
})

describe('the server forgets a call', () => {
  async function callsOf(method: Method) {
    const errors: unknown[] = []
    const onError = (error: unknown) => errors.push(error)
    const context: CallContext = {
      methods: new Map([[SHOULD_RATE_LIMIT, method]]),
      ...{ maxMessageBytes: 1000, open: new OpenCalls(), queue: new ResponseQueue(onError), onError },
    }
    const server = createServer()
    server.on('stream', (stream, headers) => context.open.add(new GrpcCall(stream, headers, context)))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    return { context, errors, session: rawSession(server.address() as AddressInfo) }
  }

  test.each<[what: string, method: Method, grpc: string]>([
    ['is answered', () => Buffer.alloc(5), '0: '],
    ['is answered later', async () => Buffer.alloc(5), '0: '],
    ['has failed', () => Promise.reject(new Error('no')), '13: the request could not be answered'],
  ])('that %s', async (_, method, grpc) => {
    const { context, session } = await callsOf(method)
    expect([await served(session), context.open.all().length]).toEqual([grpc, 0])
  })

  test('that its method answers through the call', async () => {
    const { context, session } = await callsOf((message, call) => void call.send(message))
    const stream = rawCall(session)
    stream.end(GOOD_FRAME)
    await once(stream, 'data')
    expect(context.open.all().length).toBe(0)
  })

  test('whose caller goes before the answer is sent', async () => {
    const { errors, session } = await callsOf((_, call) => {
      queueMicrotask(() => call.expire(Infinity, 0))
      return Buffer.alloc(5)
    })
    const stream = rawCall(session)
    stream.end(GOOD_FRAME)
    await once(stream, 'close')
    expect([stream.rstCode, errors]).toEqual([constants.NGHTTP2_CANCEL, []])
  })

  test('whose caller has gone, at the next sweep', async () => {
    let asked = 0
    const { context, session } = await callsOf(() => (asked++ === 0 ? new Promise(() => {}) : Buffer.alloc(5)))
    const stream = rawCall(session)
    stream.end(GOOD_FRAME)
    expect([await served(session), context.open.all().length]).toEqual(['0: ', 1])
    stream.close(constants.NGHTTP2_CANCEL)
    expect([await served(session), context.open.all().length]).toEqual(['0: ', 1])
    for (const call of context.open.all()) call.expire(0, 5000)
    expect(context.open.all().length).toBe(0)
  })
})
