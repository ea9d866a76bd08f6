import { type RedisServer, startRedis } from 'sluice-harness'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keysOf } from '../keys.ts'
import { framesOf, GCRA_SCRIPT } from './resp-frames.ts'
import { RespLoad } from './resp-load.ts'

let redis: RedisServer

beforeAll(async () => {
  redis = await startRedis()
})

afterAll(() => redis.stop())

function loadOf(command: (key: string) => readonly string[], lines: number, latenciesMs: number[] = []) {
  const frames = framesOf(keysOf(100), 4, command)
  return RespLoad.to({ port: redis.port, connections: 7, pipeline: 4, frames, fill: 25, lines, latenciesMs })
}

test('so many commands are sent as were asked for, every key first', async () => {
  const latenciesMs: number[] = []
  const load = await loadOf(key => ['INCR', key], 1, latenciesMs)
  expect(await load.send(100)).toBe(100)
  expect(await redis.command('DBSIZE')).toBe(100)
  expect(await redis.command('GET', 'user:99')).toBe('1')
  expect(await load.send(300)).toBe(300)
  expect(latenciesMs.length).toBeGreaterThan(0)
  load.close()
})

test('what the script refuses is not counted as admitted', async () => {
  await redis.command('FLUSHALL')
  const script = String(await redis.command('SCRIPT', 'LOAD', GCRA_SCRIPT))
  const load = await loadOf(key => ['EVALSHA', script, '1', key, '1', '1', '3600'], 6)
  expect(await load.send(100)).toBe(100)
  expect(await load.send(2000)).toBe(100)
  load.close()
})

test('an error reply is an error', async () => {
  const load = await loadOf(key => ['NOPE', key], 1)
  await expect(load.send(4)).rejects.toThrow("-ERR unknown command 'NOPE'")
  load.close()
})
