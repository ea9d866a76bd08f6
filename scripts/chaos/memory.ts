import { setTimeout as sleep } from 'node:timers/promises'
import { fixedWindow } from 'sluice'
import type { RedisServer } from 'sluice-harness'
import { onServer } from './processes.ts'
import { scenario } from './scenario.ts'

/** A window longer than the run: the store admits the limit, and as much again if it loses its counts. */
const HOUR = { window: '1h', align: 'first' } as const
const FLUSHALL = "local time = redis.call('TIME') redis.call('FLUSHALL') return time"
/** 100 kB a call: far from what slows a server down. */
const FILL = "for i = 1, 100 do redis.call('SET', 'fill:' .. ARGV[1] .. ':' .. i, string.rep('x', 1000)) end"
const SPARE_BYTES = 400_000

export const MEMORY = [
  scenario(
    'SCRIPT FLUSH ten times',
    () =>
      onServer(async (server, { back }) => {
        for (let i = 0; i < 10; i++) {
          await server.command('SCRIPT', 'FLUSH')
          await sleep(50)
        }
        back()
      }),
    { outage: 'none' },
  ),
  scenario(
    'FLUSHALL',
    () =>
      onServer(async (server, { back, forgot }) => {
        const [seconds, microseconds] = (await server.command('EVAL', FLUSHALL, '0')) as [string, string]
        forgot(Number(seconds) * 1000 + Number(microseconds) / 1000)
        back()
        // Until cached refusals have expired, and the window is full again.
        await sleep(1500)
      }),
    { outage: 'none', scarce: { policy: fixedWindow({ limit: 400, ...HOUR }), subjects: 1 } },
  ),
  scenario('maxmemory reached, noeviction, for 1 s', () =>
    onServer(async (server, { back }) => {
      await server.command('CONFIG', 'SET', 'maxmemory', '1')
      await sleep(1000)
      await server.command('CONFIG', 'SET', 'maxmemory', '0')
      back()
    }),
  ),
  scenario(
    'allkeys-lru under memory pressure',
    () =>
      onServer(
        async (server, { back }) => {
          await server.command('CONFIG', 'SET', 'maxmemory', String((await usedMemory(server)) + SPARE_BYTES))
          for (let i = 0; i < 40; i++) {
            await server.command('EVAL', FILL, '0', String(i))
            await sleep(25)
          }
          back()
        },
        ['--maxmemory-policy', 'allkeys-lru'],
      ),
    {
      outage: 'none',
      forgetful: true,
      evicts: true,
      scarce: { policy: fixedWindow({ limit: 5, ...HOUR }), subjects: 100 },
    },
  ),
]

async function usedMemory(server: RedisServer): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(String(await server.command('INFO', 'memory')))![1])
}
