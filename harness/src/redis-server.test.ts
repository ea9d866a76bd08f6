import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RedisServer, startRedis } from './redis-server.ts'
import { ask, RespError } from './resp.ts'

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

let redis: RedisServer

beforeAll(async () => {
  redis = await startRedis({ unixSocket: true })
})

afterAll(() => redis.stop())

test('it answers on its port and on its unix socket, under its pid', async () => {
  expect(await redis.command('PING')).toBe('PONG')
  expect(await ask({ path: redis.path! }, ['PING'])).toBe('PONG')
  expect(await redis.command('INFO', 'server')).toContain(`process_id:${redis.pid}\r\n`)
})

test('it saves nothing by itself', async () => {
  expect(await redis.command('CONFIG', 'GET', 'save')).toEqual(['save', ''])
  expect(await redis.command('CONFIG', 'GET', 'appendonly')).toEqual(['appendonly', 'no'])
})

test('an error reply rejects with its text', async () => {
  await redis.command('SET', 'text', 'a')
  await expect(redis.command('INCR', 'text')).rejects.toThrow(
    new RespError('ERR value is not an integer or out of range'),
  )
})

test('a paused server leaves a command hanging, and answers it when it goes on', async () => {
  redis.pause()
  expect(redis.isUp).toBe(false)
  await expect(ask(redis, ['PING'], 100)).rejects.toThrow('no reply within 100 ms')
  const asked = redis.command('PING')
  redis.resume()
  expect(await asked).toBe('PONG')
  expect(redis.isUp).toBe(true)
})

test('a restarted server has the same port, another process and no data, unless they are kept', async () => {
  const { port, pid } = redis
  await redis.command('SET', 'key', 'value')
  await redis.restart({ keepData: true })
  expect(await redis.command('GET', 'key')).toBe('value')
  await redis.restart()
  expect(await redis.command('GET', 'key')).toBeNull()
  expect(redis.port).toBe(port)
  expect([redis.pid === pid, isAlive(pid)]).toEqual([false, false])
})

test('a killed server refuses connections until it is restarted', async () => {
  await redis.kill()
  expect(redis.isUp).toBe(false)
  await expect(redis.command('PING')).rejects.toThrow('ECONNREFUSED')
  await redis.restart()
  expect(await redis.command('PING')).toBe('PONG')
})

test('a stopped server leaves neither process nor folder, even from a pause', async () => {
  const server = await startRedis({ unixSocket: true })
  server.pause()
  await server.stop()
  await server.stop()
  expect(isAlive(server.pid)).toBe(false)
  expect(existsSync(dirname(server.path!))).toBe(false)
})

test("a caller's folder stays, and its arguments count", async () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-'))
  const server = await startRedis({ dir, args: ['--maxmemory', '2mb'] })
  expect(await server.command('CONFIG', 'GET', 'maxmemory')).toEqual(['maxmemory', '2097152'])
  await server.stop()
  expect(readdirSync(dir)).toEqual(['redis.log'])
  rmSync(dir, { recursive: true })
})

test('a port that somebody is about to leave is waited for', async () => {
  const occupant = createServer()
  await new Promise<void>(resolve => occupant.listen(0, '127.0.0.1', resolve))
  const { port } = occupant.address() as { port: number }
  const starting = startRedis({ port })
  setTimeout(() => occupant.close(), 100)
  const server = await starting
  expect(server.port).toBe(port)
  await server.stop()
})

test.each([
  [{ args: ['--no-such-setting', '1'] }, 'no-such-setting'],
  [{ program: 'no-such-program' }, 'no-such-program'],
])('a server that cannot start says why: %j', async (options, reason) => {
  await expect(startRedis(options)).rejects.toThrow(reason)
})

test('a server that wants a password counts as started', async () => {
  const server = await startRedis({ args: ['--requirepass', 'secret'] })
  await expect(server.command('PING')).rejects.toThrow('NOAUTH')
  await server.stop()
})
