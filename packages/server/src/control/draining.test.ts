import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect, constants } from 'node:http2'
import { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { served } from '../fixtures/http/served.ts'
import { RawClient } from '../fixtures/resp/raw-client.ts'
import { call, clientOf } from '../fixtures/rls/client.ts'
import { rulesFile } from '../fixtures/rules-file.ts'

const RULES = 'limits: { per-user: { key: user, token-bucket: { capacity: 100000, refill: 1/h } } }'
const ENVOY = 'domain: edge\ndescriptors: [{ key: user, rate_limit: { unit: hour, requests_per_unit: 100000 } }]'

const draining = () => served(RULES, { envoy: rulesFile(ENVOY) })

/** One check on a connection that the agent keeps; rejects where the connection is lost. */
function check(agent: Agent, port: number): Promise<{ status: number; connection: string | undefined }> {
  return new Promise((resolve, reject) => {
    const sent = request({ agent, port, host: '127.0.0.1', method: 'POST', path: '/v1/check' }, response => {
      response.resume()
      response.once('error', reject)
      response.once('end', () => resolve({ status: response.statusCode!, connection: response.headers.connection }))
    })
    sent.once('error', reject)
    sent.end('{"user":"42"}')
  })
}

test('eight clients that keep their connections see no reset, and are told to connect again', async () => {
  const service = await draining()
  const agents = Array.from({ length: 8 }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
  onTestFinished(() => {
    for (const agent of agents) agent.destroy()
  })
  const answers = async (times: number) =>
    (
      await Promise.all(
        agents.map(async agent => {
          const all = []
          for (let i = 0; i < times; i++) all.push(await check(agent, service.ports.http))
          return all
        }),
      )
    ).flat()
  const before = await answers(5)
  // In the midst of what they ask.
  const during = answers(40)
  setImmediate(() => service.drain())
  const all = [...before, ...(await during)]
  expect(all.filter(({ status }) => status !== 200)).toEqual([])
  expect(before.map(({ connection }) => connection)).not.toContain('close')
  const after = await answers(1)
  expect(after.map(({ connection }) => connection)).toEqual(agents.map(() => 'close'))
  expect((await service.get('/readyz')).status).toBe(503)
  expect((await service.get('/healthz')).status).toBe(200)
})

test('a gRPC client is sent GOAWAY, loses no call, and is served on its next connection', async () => {
  const service = await draining()
  const session = connect(`http://127.0.0.1:${service.ports.grpc}`)
  onTestFinished(() => session.destroy())
  await once(session, 'remoteSettings')
  const client = clientOf({ port: service.ports.grpc })
  expect(await call(client)).toMatchObject({ overallCode: 1 })
  const away = once(session, 'goaway')
  const calls = Array.from({ length: 200 }, () => call(client))
  service.drain()
  expect((await away)[0]).toBe(constants.NGHTTP2_NO_ERROR)
  for (const answer of await Promise.all([...calls, ...Array.from({ length: 20 }, () => call(client))])) {
    expect(answer).toMatchObject({ overallCode: 1 })
  }
})

test('a RESP connection is closed after its last reply, and its client goes on over another', async () => {
  const service = await draining()
  const raw = await RawClient.connected(service.ports.resp)
  onTestFinished(() => raw.close())
  await raw.send('PING\r\n').until('+PONG\r\n')
  const client = new Redis({ port: service.ports.resp })
  onTestFinished(() => client.disconnect())
  const throttle = () => client.call('CL.THROTTLE', 'k', '99999', '1', '60')
  expect(await throttle()).toHaveLength(5)
  const replies = Array.from({ length: 50 }, throttle)
  service.drain()
  for (const reply of await Promise.all(replies)) expect(reply).toHaveLength(5)
  expect(await throttle()).toHaveLength(5)
  raw.send('PING\r\nPING\r\n')
  expect(await raw.untilClosed()).toBe('+PONG\r\n+PONG\r\n')
})
