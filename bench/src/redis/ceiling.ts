import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { ranked } from '../harness.ts'
import { print, type Row } from '../report.ts'
import { contest } from './contest.ts'
import { IN_FLIGHT } from './load.ts'
import { generousBucket } from './policies.ts'
import { atServer, type Server } from './site.ts'
import { sluice } from './sluice.ts'

const NAME = "redis-benchmark's ceiling for a GET and SET script"
const KEYS = 10_000
const REQUESTS = 300_000

/** The least work of a limiter that calls one script for each decision. */
const GET_AND_SET = `local v = redis.call('GET', KEYS[1]) redis.call('SET', KEYS[1], ARGV[1], 'EX', '3600') return v`

/** The server's rate for redis-benchmark, a client in C that only sends: 50 connections, 16 calls in each pipeline. */
export const ceilingCase = contest(
  { name: NAME, keys: KEYS, callers: IN_FLIGHT, place: atServer },
  { sluice: sluice(generousBucket), peers: [] },
  async (measured, site) => {
    const { rows, aa } = ranked(measured, ({ rates }) => rates, 'more')
    const ceiling = await redisBenchmark(site.server)
    const ratio = rows[0]!.value / ceiling
    const note = 'one script call each; Sluice has up to 64 decisions in one'
    const last: Row = { name: 'redis-benchmark', role: 'reference', value: ceiling, ratio, note }
    print({ bench: 'redis', case: NAME, unit: 'decisions/s', better: 'more', rows: [...rows, last], aa })
  },
)

async function redisBenchmark({ host, port }: Server): Promise<number> {
  const where = ['-h', host, '-p', String(port)]
  const how = ['-q', '-n', String(REQUESTS), '-r', String(KEYS), '-c', '50', '-P', '16']
  const call = ['eval', GET_AND_SET, '1', 'user:__rand_int__', '12345678']
  const { stdout } = await promisify(execFile)('redis-benchmark', [...where, ...how, ...call])
  const rate = /([\d.]+) requests per second/.exec(stdout)?.[1]
  if (rate === undefined) throw new Error(`redis-benchmark printed no rate:\n${stdout}`)
  return Number(rate)
}
