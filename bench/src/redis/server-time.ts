import { RateLimiterRedis } from 'rate-limiter-flexible'
import { createLimiter, type Policy } from 'sluice'
import type { BenchCase } from '../bench-case.ts'
import { type Measured, orderOf, ranked } from '../harness.ts'
import { print, type Row } from '../report.ts'
import { flexibleOptions } from './peers.ts'
import { everyPolicy, PLENTY } from './policies.ts'
import { atServer, ioredis, type Site } from './site.ts'
import { PATIENT } from './sluice.ts'

const KEYS = 10_000
/** The most decisions that one call carries. */
const FULL_CALL = 64
const CALLS_A_ROUND = 20
const LONE_CALLS_A_ROUND = 300

/** The time in the script as the server reports it, without socket, parsing and reply. */
export const serverTimeCase: BenchCase = {
  name: 'server time in the script',
  run: ({ rounds }) =>
    atServer(async site => {
      for (const [name, policy] of Object.entries(everyPolicy)) {
        const { rows, aa } = await scriptTimes(site, policy, rounds)
        const title = `server time in the script, ${name}, calls of ${FULL_CALL}`
        print({ bench: 'redis', case: title, unit: 'µs/decision', better: 'less', rows, aa })
      }
    }),
}

interface Timed {
  readonly role: Row['role']
  readonly name: string
  readonly ask: (key: string) => Promise<unknown>
  /** Decisions asked in one turn of the event loop, and how often that is done. */
  readonly together: number
  readonly times: number
}

async function scriptTimes(site: Site, policy: Policy, rounds: number) {
  const client = ioredis(site)
  const flexible = new RateLimiterRedis(flexibleOptions(client, PLENTY))
  const ours = () => {
    const limiter = createLimiter(policy, { store: site.store(client, PATIENT), name: `n${made++}` })
    return async (key: string) => (await limiter.consume(key)).release()
  }
  const full = { together: FULL_CALL, times: CALLS_A_ROUND }
  const lone = { together: 1, times: LONE_CALLS_A_ROUND }
  const all: Timed[] = [
    { role: 'sluice', name: 'sluice', ask: ours(), ...full },
    { role: 'peer', name: 'rate-limiter-flexible', ask: key => flexible.consume(key), ...lone },
    { role: 'again', name: 'sluice', ask: ours(), ...full },
    { role: 'reference', name: 'sluice, calls of 1', ask: ours(), ...lone },
  ]
  for (const one of all) await scriptTime(site, one)
  const rates = new Map(all.map(one => [one, [] as number[]]))
  for (let round = 0; round < rounds; round++) {
    for (const one of orderOf(all, round)) rates.get(one)!.push(await scriptTime(site, one))
  }
  const note = (role: Row['role']) => (policy.kind === 'concurrency' && role !== 'peer' ? 'consume and release' : '')
  const measured = all.map((one): Measured => ({ ...one, rates: rates.get(one)!, readings: {}, note: note(one.role) }))
  return ranked(measured, one => one.rates, 'less')
}

let made = 0

async function scriptTime({ server }: Site, { ask, together, times }: Timed): Promise<number> {
  await server.command('CONFIG', 'RESETSTAT')
  for (let i = 0; i < times; i++) await Promise.all(Array.from({ length: together }, () => ask(randomKey())))
  const stats = String(await server.command('INFO', 'commandstats'))
  const micros = /cmdstat_evalsha:calls=\d+,usec=(\d+)/.exec(stats)?.[1]
  return Number(micros) / (times * together)
}

const randomKey = () => `user:${Math.floor(Math.random() * KEYS)}`
