import { once } from 'node:events'
import { constants } from 'node:http2'
import { connect } from 'node:net'
import { connect as secureConnect } from 'node:tls'
import { credentials } from '@grpc/grpc-js'
import { http2 } from 'sluice-harness'
import { expect, test } from 'vitest'
import { ownCertificate } from '../../fixtures/rls/certificate.ts'
import { call, clientOf } from '../../fixtures/rls/client.ts'
import { GOOD_FRAME, outcomeOf, rawCall, rawSession } from '../../fixtures/rls/raw.ts'
import { holding, started } from '../../fixtures/rls/started.ts'

async function holdingServer() {
  const { shouldRateLimit, asked, letGo } = holding()
  return { server: await started(shouldRateLimit), asked, letGo }
}

test('a call that came in before the close is answered', async () => {
  const { server, asked, letGo } = await holdingServer()
  const answer = call(clientOf(server))
  await asked
  const closed = server.close()
  letGo()
  expect(await answer).toMatchObject({ overallCode: 1 })
  await closed
})

test('GOAWAY names the last call that is served, and the connection closes after that call', async () => {
  const { server, asked, letGo } = await holdingServer()
  const session = rawSession(server)
  const stream = rawCall(session)
  const outcome = outcomeOf(stream)
  stream.end(GOOD_FRAME)
  await asked
  const closed = server.close()
  const [code, lastStream] = await once(session, 'goaway')
  expect([code, lastStream]).toEqual([constants.NGHTTP2_NO_ERROR, stream.id])
  letGo()
  expect((await outcome).grpc).toBe('0: ')
  await closed
  expect(session.closed).toBe(true)
})

test('a closing server accepts no new connection', async () => {
  const { server, asked, letGo } = await holdingServer()
  const answer = call(clientOf(server))
  await asked
  const closed = server.close()
  const socket = connect(server.port, '127.0.0.1')
  const [error] = await once(socket, 'error')
  expect(error).toMatchObject({ code: 'ECONNREFUSED' })
  letGo()
  await answer
  await closed
})

test('an idle connection does not delay the close', async () => {
  const server = await started()
  const client = clientOf(server)
  expect(await call(client)).toMatchObject({ overallCode: 1 })
  await server.close(Infinity)
})

test('an answer that never comes delays the close no longer than the grace', async () => {
  const { server, asked } = await holdingServer()
  const answer = call(clientOf(server))
  await asked
  await server.close(20)
  expect(await answer).toMatch(/^(UNAVAILABLE|INTERNAL|CANCELLED)/)
})

test('a TLS handshake that ends after the close has begun does not delay it', async () => {
  const own = ownCertificate()
  const server = await started(undefined, { tls: own })
  const socket = connect(server.port, '127.0.0.1')
  await once(socket, 'connect')
  // One that came after it is served, so the first has been accepted.
  const later = clientOf(server, credentials.createSsl(own.cert), { 'grpc.ssl_target_name_override': 'localhost' })
  expect(await call(later)).toMatchObject({ overallCode: 1 })
  const closed = server.close(Infinity)
  const secure = secureConnect({ socket, ca: own.cert, servername: 'localhost', ALPNProtocols: ['h2'] })
  secure.resume()
  await once(secure, 'secureConnect')
  secure.write(Buffer.concat([http2.PREFACE, http2.frame(http2.SETTINGS, 0)]))
  await closed
})

test('a server can be closed twice', async () => {
  const server = await started()
  await Promise.all([server.close(), server.close()])
  await server.close()
})
