import { RateLimiterRedis } from 'rate-limiter-flexible'
import { createLimiter, gcra, leakyBucket } from 'sluice'
import type { BenchCase } from '../bench-case.ts'
import { print, type Row } from '../report.ts'
import { flexibleOptions } from './peers.ts'
import { everyPolicy, PLENTY } from './policies.ts'
import { atServer, ioredis, type Server } from './site.ts'

const USERS = 100

const policies = {
  ...everyPolicy,
  'leaky bucket': leakyBucket({ capacity: PLENTY, leak: '10/h' }),
  gcra: gcra({ rate: '10/h', burst: PLENTY }),
}

/** As Redis counts them: the key's name, the value and the entry that holds both. All contestants use their default names. */
export const bytesCase: BenchCase = {
  name: 'bytes a key',
  run: () =>
    atServer(async site => {
      const client = ioredis(site)
      const flexible = new RateLimiterRedis(flexibleOptions(client, PLENTY))
      const theirs = await bytesAfter(site.server, key => flexible.consume(key))
      for (const [name, policy] of Object.entries(policies)) {
        const limiter = createLimiter(policy, { store: site.store(client) })
        const ours = await bytesAfter(site.server, key => limiter.consume(key))
        const rows: Row[] = [
          { name: 'sluice', role: 'sluice', value: ours },
          { name: 'rate-limiter-flexible', role: 'peer', value: theirs, ratio: theirs / ours },
        ]
        const title = `bytes a key, ${name}, asked for once`
        print({ bench: 'redis', case: title, unit: 'bytes/key', better: 'less', rows, aa: null })
      }
    }),
}

async function bytesAfter(server: Server, ask: (key: string) => Promise<unknown>): Promise<number> {
  await server.command('FLUSHALL')
  for (let i = 0; i < USERS; i++) await ask(`user:${1000 + i}`)
  return bytesOf(server, '*user:*')
}

/** The mean size of the matching keys, with every element of their values. */
export async function bytesOf(server: Server, pattern: string): Promise<number> {
  const keys = (await server.command('KEYS', pattern)) as string[]
  if (keys.length === 0) throw new Error(`no key matches ${pattern}`)
  const sizes = await Promise.all(keys.map(key => server.command('MEMORY', 'USAGE', key, 'SAMPLES', '0')))
  return sizes.reduce<number>((sum, size) => sum + Number(size), 0) / keys.length
}
