import { type Policy, tokenBucket } from 'sluice'
import type { BenchCase } from '../suites.ts'
import { decisions } from './decisions.ts'
import type { Load } from './load.ts'
import {
  bareIncr,
  type PeerEntry,
  rateLimiterFlexible,
  rateLimiterFlexibleUnion,
  rateLimiterFlexibleWithReward,
  rateLimitRedis,
} from './peers.ts'
import { generousBucket, generousFixed, generousSliding, PLENTY, tenSlots, turningLog } from './policies.ts'
import { atCluster } from './site.ts'
import { sluice, sluiceOfSeveral, sluiceWithRelease } from './sluice.ts'

/** One key gets all there is: more than a run can ask for, and refilled slower than it is asked. */
const HOT_PLENTY = 1_000_000_000
const hotBucket = tokenBucket({ capacity: HOT_PLENTY, refill: '1000/s' })

export const throughputCases: readonly BenchCase[] = [
  decisions('token bucket, ioredis', async (site, load) => {
    const client = site.ioredis()
    const pipelining = site.ioredis({ enableAutoPipelining: true })
    const nodeRedis = await site.nodeRedis()
    return {
      sluice: () => sluice({ site, client, load }, generousBucket),
      peers: [
        flexibleOn(client, load),
        flexibleOn(pipelining, load, ', auto-pipelining'),
        flexibleOn(nodeRedis, load, ', node-redis'),
        await rateLimitRedis(client, load, PLENTY),
      ],
      references: [bareIncr(client, load)],
    }
  }),
  decisions('token bucket, node-redis', async (site, load) => {
    const client = await site.nodeRedis()
    const ioredis = site.ioredis()
    return {
      sluice: () => sluice({ site, client, load }, generousBucket),
      peers: [
        flexibleOn(client, load),
        flexibleOn(ioredis, load, ', ioredis'),
        await rateLimitRedis(client, load, PLENTY),
      ],
      references: [bareIncr(client, load)],
    }
  }),
  // Fixed windows are what the peers do. From here on all share one ioredis client.
  decisions('fixed window', async (site, load) => {
    const client = site.ioredis()
    return {
      sluice: () => sluice({ site, client, load }, generousFixed),
      peers: [flexibleOn(client, load), await rateLimitRedis(client, load, PLENTY)],
    }
  }),
  // No peer has the algorithms that follow, so beside them is what its users would use instead.
  besideFixed('sliding window', generousSliding),
  besideFixed('sliding log of 100', turningLog),
  decisions('concurrency, consume and release', async (site, load) => {
    const client = site.ioredis()
    return {
      sluice: () => sluiceWithRelease({ site, client, load }, tenSlots),
      peers: [rateLimiterFlexibleWithReward({ name: 'rate-limiter-flexible', client, load, points: PLENTY })],
    }
  }),
  decisions('three limits in one decision', async (site, load) => {
    const client = site.ioredis()
    const policies = { burst: generousBucket, hourly: generousFixed, sliding: generousSliding }
    return {
      sluice: () => sluiceOfSeveral({ site, client, load }, policies),
      peers: [rateLimiterFlexibleUnion({ name: 'rate-limiter-flexible union', client, load, points: PLENTY })],
    }
  }),
  // All is admitted; without the deny cache, so that it is plain that nothing is answered by it.
  decisions(
    'one hot key',
    async (site, load) => {
      const client = site.ioredis()
      return {
        sluice: () => sluice({ site, client, load, options: { denyCache: false } }, hotBucket),
        peers: [rateLimiterFlexible({ name: 'rate-limiter-flexible', client, load, points: HOT_PLENTY })],
      }
    },
    { keys: 1 },
  ),
  decisions(
    'token bucket, cluster of three',
    async (site, load) => {
      const client = site.cluster()
      const fewTags = {
        ...sluice({ site, client, load, options: { tags: 16 } }, generousBucket),
        name: 'sluice, 16 tags',
      }
      return {
        sluice: () => sluice({ site, client, load }, generousBucket),
        peers: [flexibleOn(client, load), fewTags],
      }
    },
    { place: atCluster },
  ),
]

function flexibleOn(client: PeerEntry['client'], load: Load, how = '') {
  return rateLimiterFlexible({ name: `rate-limiter-flexible${how}`, client, load, points: PLENTY })
}

function besideFixed(name: string, policy: Policy): BenchCase {
  return decisions(name, async (site, load) => {
    const client = site.ioredis()
    return { sluice: () => sluice({ site, client, load }, policy), peers: [flexibleOn(client, load)] }
  })
}
