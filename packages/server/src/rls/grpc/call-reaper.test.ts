import { once } from 'node:events'
import { constants } from 'node:http2'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { call, clientOf } from '../../fixtures/rls/client.ts'
import { framed, GOOD_FRAME, outcomeOf, rawCall, rawSession, served } from '../../fixtures/rls/raw.ts'
import { started } from '../../fixtures/rls/started.ts'

const OVER = '4: the time for this request is over'

test('a call without a message ends with DEADLINE_EXCEEDED', async () => {
  const stream = rawCall(rawSession(await started(undefined, { patienceMs: 20 })))
  expect((await outcomeOf(stream)).grpc).toBe(OVER)
})

test('a call whose message arrives byte by byte ends with DEADLINE_EXCEEDED, too', async () => {
  const stream = rawCall(rawSession(await started(undefined, { patienceMs: 20 })))
  const outcome = outcomeOf(stream)
  const trickle = setInterval(() => stream.write(Buffer.alloc(1)), 5)
  expect((await outcome).grpc).toBe(OVER)
  clearInterval(trickle)
})

test('a call that the service never answers ends with DEADLINE_EXCEEDED, even if its caller would wait', async () => {
  const stream = rawCall(rawSession(await started(() => new Promise(() => {}), { patienceMs: 20 })))
  stream.end(GOOD_FRAME)
  expect((await outcomeOf(stream)).grpc).toBe(OVER)
})

test('a call whose caller does not read the answer is reset', async () => {
  const server = await started(undefined, { patienceMs: 100 })
  const stream = rawCall(rawSession(server, { initialWindowSize: 0 }))
  stream.end(GOOD_FRAME)
  expect(await outcomeOf(stream)).toMatchObject({ http: 200, grpc: undefined, rstCode: constants.NGHTTP2_CANCEL })
})

test('a health watch may stay open for ever', async () => {
  const server = await started(undefined, { patienceMs: 100 })
  const watch = rawCall(rawSession(server), { ':path': '/grpc.health.v1.Health/Watch' })
  watch.end(framed(Buffer.alloc(0)))
  await once(watch, 'data')
  // What came after it is over.
  expect((await outcomeOf(rawCall(rawSession(server)))).grpc).toBe(OVER)
  expect((await outcomeOf(rawCall(rawSession(server)))).grpc).toBe(OVER)
  expect(watch.closed).toBe(false)
})

test('a connection that does not answer pings is closed', async () => {
  const server = await started(undefined, { keepaliveMs: 10 })
  const socket = connect(server.port, '127.0.0.1')
  socket.resume()
  await once(socket, 'close')
})

test('an idle connection that answers pings stays open', async () => {
  const server = await started(undefined, { keepaliveMs: 100 })
  const session = rawSession(server)
  for (let pings = 0; pings < 3; pings++) await once(session, 'ping')
  expect(await served(session)).toBe('0: ')
})

test('the server answers pings', async () => {
  const client = clientOf(await started(), undefined, {
    'grpc.keepalive_time_ms': 5,
    'grpc.keepalive_timeout_ms': 1000,
  })
  expect(await call(client)).toMatchObject({ overallCode: 1 })
  const session = rawSession(await started())
  await new Promise<void>((resolve, reject) => {
    session.once('connect', () => session.ping(error => (error === null ? resolve() : reject(error))))
  })
})
