import type { Client, ClientReadableStream } from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import { call, clientOf, told } from '../../fixtures/rls/client.ts'
import { healthService } from '../../fixtures/rls/protos.ts'
import { framed, outcomeOf, rawCall, rawSession } from '../../fixtures/rls/raw.ts'
import { started } from '../../fixtures/rls/started.ts'
import { Health, type Watcher } from './health.ts'

const CHECK = healthService.Check!
const WATCH = healthService.Watch!

function watch(client: Client, service: string): ClientReadableStream<{ status: string }> {
  const { path, requestSerialize, responseDeserialize } = WATCH
  const deserialize = responseDeserialize as (bytes: Buffer) => { status: string }
  return client.makeServerStreamRequest(path, requestSerialize, deserialize, { service })
}

/** The next thing that a watcher hears: a status, or how it ended. */
function next(stream: ClientReadableStream<{ status: string }>): Promise<string> {
  return new Promise(resolve => {
    stream.once('data', ({ status }) => resolve(status))
    stream.once('error', error => resolve(told(error as never)))
  })
}

test.each([
  ['', { status: 'SERVING' }],
  ['ratelimit', { status: 'SERVING' }],
  ['envoy.service.ratelimit.v3.RateLimitService', 'NOT_FOUND: there is no service of this name'],
  ['__proto__', 'NOT_FOUND: there is no service of this name'],
])('the health of %j is known', async (service, expected) => {
  expect(await call(clientOf(await started()), { service }, CHECK)).toEqual(expected)
})

test.each([
  ['', 'SERVING', 'NOT_SERVING'],
  ['ratelimit', 'SERVING', 'NOT_SERVING'],
  ['other', 'SERVICE_UNKNOWN', 'SERVICE_UNKNOWN'],
])('a watcher of %j is told how it is, how it goes, and to leave', async (service, now, then) => {
  const server = await started()
  const watcher = watch(clientOf(server), service)
  expect(await next(watcher)).toBe(now)
  const closed = server.close()
  expect(await next(watcher)).toBe(then)
  expect(await next(watcher)).toBe('UNAVAILABLE: the server is shutting down')
  await closed
})

test('a check that began before the close reports NOT_SERVING', async () => {
  const server = await started()
  const stream = rawCall(rawSession(server), { ':path': CHECK.path })
  const outcome = outcomeOf(stream)
  // Its stream is there before the server goes, its message comes after.
  await new Promise(resolve => stream.write(framed(Buffer.alloc(0)).subarray(0, 2), resolve))
  expect(await call(clientOf(server), { service: '' }, CHECK)).toEqual({ status: 'SERVING' })
  const closed = server.close()
  stream.end(framed(Buffer.alloc(0)).subarray(2))
  expect((await outcome).body.toString('hex')).toBe('00000000020802')
  await closed
})

test('a watcher that has left gets no more updates', () => {
  const health = new Health()
  const heard: string[] = []
  const leaving = new Map<string, () => void>()
  const watcher = (name: string): Watcher => ({
    send: frame => heard.push(`${name} ${frame.at(-1)}`),
    fail: ({ grpc }) => heard.push(`${name} ${grpc}`),
    whenGone: callback => leaving.set(name, callback),
  })
  for (const name of ['stays', 'leaves']) health.watch(Buffer.alloc(0), watcher(name))
  leaving.get('leaves')!()
  health.leave()
  expect(heard).toEqual(['stays 1', 'leaves 1', 'stays 2', 'stays UNAVAILABLE'])
})
