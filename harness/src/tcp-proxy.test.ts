import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type RedisServer, startRedis } from './redis-server.ts'
import { ask } from './resp.ts'
import { startProxy, type TcpProxy } from './tcp-proxy.ts'
import { until } from './until.ts'

let redis: RedisServer
let proxy: TcpProxy

beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

beforeEach(async () => {
  proxy = await startProxy(redis)
})
afterEach(() => proxy.stop())

const PING = '*1\r\n$4\r\nPING\r\n'

async function connected(): Promise<Socket> {
  const socket = connect({ host: proxy.host, port: proxy.port, allowHalfOpen: true })
  await once(socket, 'connect')
  return socket
}

async function pings(socket: Socket): Promise<string> {
  socket.write(PING)
  return String((await once(socket, 'data'))[0])
}

test('a reply of many chunks comes through whole, and all is counted', async () => {
  const value = 'x'.repeat(3_000_000)
  await redis.command('SET', 'long', value)
  expect(await ask(proxy, ['GET', 'long'])).toBe(value)
  expect(proxy.counts).toMatchObject({ connections: 1, up: 23, down: value.length + 12 })
})

test('connections that are over are not counted as open', async () => {
  const socket = await connected()
  await pings(socket)
  expect(proxy.counts.open).toBe(1)
  socket.destroy()
  await until('none is open', async () => proxy.counts.open === 0)
  expect(proxy.counts.connections).toBe(1)
})

test('latency delays each direction', async () => {
  proxy.latencyMs = 30
  const startedAt = performance.now()
  await ask(proxy, ['PING'])
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(60)
})

test('what is under way is not overtaken when the latency is lowered', async () => {
  const socket = await connected()
  await pings(socket)
  let replies = ''
  socket.on('data', chunk => {
    replies += chunk
  })
  proxy.latencyMs = 50
  socket.write('*2\r\n$4\r\nECHO\r\n$1\r\na\r\n')
  // Two turns of the event loop, and the proxy has it.
  await turn()
  await turn()
  proxy.latencyMs = 0
  socket.write('*2\r\n$4\r\nECHO\r\n$1\r\nb\r\n')
  await until('both are answered', async () => replies.length === 14)
  expect(replies).toBe('$1\r\na\r\n$1\r\nb\r\n')
  socket.destroy()
})

test('what is dropped is never answered, on a connection that stays', async () => {
  const socket = await connected()
  proxy.drop = true
  await expect(ask(proxy, ['SET', 'dropped', '1'], 50)).rejects.toThrow('no reply')
  expect(await redis.command('EXISTS', 'dropped')).toBe(0)
  proxy.drop = false
  expect(await pings(socket)).toBe('+PONG\r\n')
  socket.destroy()
})

test('a command whose answer is dropped is executed', async () => {
  proxy.drop = 'down'
  await expect(ask(proxy, ['SET', 'unanswered', '1'], 100)).rejects.toThrow('no reply')
  expect(await redis.command('EXISTS', 'unanswered')).toBe(1)
})

test('a reset is seen as one', async () => {
  const socket = await connected()
  await pings(socket)
  proxy.reset()
  const [error] = await once(socket, 'error')
  expect(error.code).toBe('ECONNRESET')
  expect(proxy.counts.open).toBe(0)
})

test('a connection half closed from the server is at its end and still takes commands', async () => {
  const socket = await connected()
  await pings(socket)
  proxy.halfClose('down')
  await once(socket, 'end')
  await new Promise(resolve => socket.write('*3\r\n$3\r\nSET\r\n$4\r\nhalf\r\n$1\r\n1\r\n', resolve))
  await until('the command is executed', async () => (await redis.command('EXISTS', 'half')) === 1)
  socket.destroy()
})

test('while it refuses, new connections fail and old ones go on', async () => {
  const socket = await connected()
  proxy.refuse = true
  await expect(ask(proxy, ['PING'])).rejects.toThrow('ECONNREFUSED')
  expect(await pings(socket)).toBe('+PONG\r\n')
  proxy.refuse = false
  expect(await ask(proxy, ['PING'])).toBe('PONG')
  socket.destroy()
})

test('a rewritten reply makes the server look old', async () => {
  const version = /(?<=redis_version:)\d/
  proxy.rewrite = (chunk, direction) =>
    direction === 'up' ? chunk : Buffer.from(chunk.toString('latin1').replace(version, '4'), 'latin1')
  expect(await ask(proxy, ['INFO', 'server'])).toMatch(/redis_version:4\./)
})

test('a dead server behind it is a connection that breaks', async () => {
  const dead = await startRedis()
  const toDead = await startProxy(dead)
  await dead.stop()
  await expect(ask(toDead, ['PING'])).rejects.toThrow(/ECONNRESET|closed/)
  await toDead.stop()
})
