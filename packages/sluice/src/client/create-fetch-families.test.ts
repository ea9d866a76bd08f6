import { describe, expect, test } from 'vitest'
import { crowd, refusedOf, world } from '../fixtures/client/world.ts'
import type { HeaderFamily } from '../http/index.ts'
import { rateLimit } from '../http/node.ts'
import { fixedWindow, gcra, type Policy, slidingLog, slidingWindow, tokenBucket } from '../index.ts'

const FAMILIES: readonly HeaderFamily[] = ['draft-11', 'draft-7', 'draft-6', 'x', 'x-bucket']
/** The last of 60 requests at 20 in 10 s cannot start before `lastAt`, and has a second or two for rounding on each reset. */
const POLICIES: readonly [kind: string, policy: Policy, lastAt: number][] = [
  ['a fixed window', fixedWindow({ limit: 20, window: '10s' }), 20_000],
  ['a sliding log', slidingLog({ limit: 20, window: '10s' }), 20_000],
  ['a sliding window', slidingWindow({ limit: 20, window: '10s', buckets: 10 }), 20_000],
  ['a token bucket', tokenBucket({ capacity: 20, refill: '2/s' }), 20_000],
  ['a gcra', gcra({ burst: 20, rate: '2/s' }), 20_000],
]

describe.each(FAMILIES)('a server of ours with %s', headers => {
  test.each(POLICIES)('and %s refuses none of eight callers, and its quota is used', async (_, policy, lastAt) => {
    const { url, client, arrivals, play, clock } = await world((request, response, __, serverClock) => {
      limit ??= rateLimit({ policy, headers, clock: serverClock })
      limit(request, response, () => response.end('served'))
    })
    let limit: ReturnType<typeof rateLimit> | undefined
    const get = client({ maxWait: '5m' })
    const statuses = await play(crowd(8, 8, () => get(`${url}/things`)))
    expect(statuses).toEqual(Array.from({ length: 64 }, () => 200))
    expect(refusedOf(arrivals)).toBe(0)
    const sixtieth = arrivals[59]!.at
    expect(sixtieth).toBeGreaterThanOrEqual(lastAt - 500)
    expect(sixtieth).toBeLessThanOrEqual(lastAt + 5000)
    expect(clock.now()).toBeGreaterThan(0)
  })
})
