import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { RedisServer } from 'sluice-harness'
import { compare } from '../harness.ts'
import { keysOf } from '../keys.ts'
import { print } from '../report.ts'
import type { BenchCase } from '../suites.ts'
import { IN_FLIGHT } from './load.ts'
import { generousBucket } from './policies.ts'
import { atServer } from './site.ts'
import { sluice } from './sluice.ts'

const KEYS = 10_000
const REQUESTS = 300_000

/** The least that a limiter of one script call a decision does. */
const GET_AND_SET = `local v = redis.call('GET', KEYS[1]) redis.call('SET', KEYS[1], ARGV[1], 'EX', '3600') return v`

/** What the server gives to a client in C that does nothing but send: 50 connections, 16 calls in each pipeline. */
export const ceilingCase: BenchCase = {
  name: "redis-benchmark's ceiling for a GET and SET script",
  run: settings =>
    atServer(async site => {
      const client = site.ioredis()
      const load = { callers: IN_FLIGHT, keys: keysOf(KEYS), latenciesMs: [] }
      const field = { sluice: () => sluice({ site, client, load }, generousBucket), fill: KEYS }
      const { rows, aa } = await compare(field, settings)
      const ceiling = await redisBenchmark(site.server)
      const ratio = rows[0]!.value / ceiling
      const note = 'one script call each; Sluice has up to 128 decisions in one'
      rows.push({ name: 'redis-benchmark', role: 'reference', value: ceiling, ratio, note })
      print({ bench: 'redis', case: ceilingCase.name, unit: 'decisions/s', better: 'more', rows, aa })
    }),
}

async function redisBenchmark({ host, port }: RedisServer): Promise<number> {
  const where = ['-h', host, '-p', String(port)]
  const how = ['-q', '-n', String(REQUESTS), '-r', String(KEYS), '-c', '50', '-P', '16']
  const call = ['eval', GET_AND_SET, '1', 'user:__rand_int__', '12345678']
  const { stdout } = await promisify(execFile)('redis-benchmark', [...where, ...how, ...call])
  const rate = /([\d.]+) requests per second/.exec(stdout)?.[1]
  if (rate === undefined) throw new Error(`redis-benchmark printed no rate:\n${stdout}`)
  return Number(rate)
}
