import { once } from 'node:events'
import { constants } from 'node:http2'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { call, clientOf } from './fixtures/client.ts'
import { framed, outcomeOf, rawCall, rawSession } from './fixtures/raw.ts'
import { PASSED, started } from './fixtures/started.ts'

/** A server whose answers wait until they are let go. */
async function holding() {
  const waiting: (() => void)[] = []
  let isAsked: (() => void) | undefined
  const asked = new Promise<void>(resolve => {
    isAsked = resolve
  })
  const server = await started(
    () =>
      new Promise(resolve => {
        waiting.push(() => resolve(PASSED))
        isAsked!()
      }),
  )
  return { server, asked, waiting }
}

test('what has come in is answered after the server has begun to close', async () => {
  const { server, asked, waiting } = await holding()
  const answer = call(clientOf(server))
  await asked
  const closed = server.close()
  for (const go of waiting) go()
  expect(await answer).toMatchObject({ overallCode: 1 })
  await closed
})

test('clients are told to go, up to which call they are served, and lose their connection after it', async () => {
  const { server, asked, waiting } = await holding()
  const session = rawSession(server)
  const stream = rawCall(session)
  const outcome = outcomeOf(stream)
  stream.end(framed(Buffer.from('0a01641208' + '0a060a016b120176', 'hex')))
  await asked
  const closed = server.close()
  const [code, lastStream] = await once(session, 'goaway')
  expect([code, lastStream]).toEqual([constants.NGHTTP2_NO_ERROR, stream.id])
  for (const go of waiting) go()
  expect((await outcome).grpc).toBe('0: ')
  await closed
  expect(session.closed).toBe(true)
})

test('nobody new gets in', async () => {
  const { server, asked, waiting } = await holding()
  const answer = call(clientOf(server))
  await asked
  const closed = server.close()
  const socket = connect(server.port, '127.0.0.1')
  const [error] = await once(socket, 'error')
  expect(error).toMatchObject({ code: 'ECONNREFUSED' })
  for (const go of waiting) go()
  await answer
  await closed
})

test('an idle connection does not hold it up', async () => {
  const server = await started()
  const client = clientOf(server)
  expect(await call(client)).toMatchObject({ overallCode: 1 })
  await server.close(60_000)
})

test('an answer that never comes holds it up no longer than it may', async () => {
  const { server, asked } = await holding()
  const answer = call(clientOf(server))
  await asked
  await server.close(20)
  expect(await answer).toMatch(/^(UNAVAILABLE|INTERNAL|CANCELLED)/)
})

test('it can be closed twice', async () => {
  const server = await started()
  await Promise.all([server.close(), server.close()])
  await server.close()
})
