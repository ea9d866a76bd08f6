import { type Policy, tokenBucket } from 'sluice'
import type { BenchCase } from '../bench-case.ts'
import { decisions } from './decisions.ts'
import {
  bareIncr,
  rateLimiterFlexible,
  rateLimiterFlexibleUnion,
  rateLimiterFlexibleWithReward,
  rateLimitRedis,
} from './peers.ts'
import { generousBucket, generousFixed, generousSliding, PLENTY, tenSlots, turningLog } from './policies.ts'
import { atCluster, cluster, ioredis, nodeRedis, type Site } from './site.ts'
import { sluice, sluiceOfSeveral, sluiceWithRelease } from './sluice.ts'

/** For one key: more than a run can ask for, and refilled slower than it is used. */
const HOT_PLENTY = 1_000_000_000
const hotBucket = tokenBucket({ capacity: HOT_PLENTY, refill: '1000/s' })

const autoPipelining = (site: Site) => ioredis(site, { enableAutoPipelining: true })
const flexible = rateLimiterFlexible({ points: PLENTY })

export const throughputCases: readonly BenchCase[] = [
  decisions('token bucket, ioredis', {
    sluice: sluice(generousBucket),
    peers: [
      flexible,
      rateLimiterFlexible({ points: PLENTY, client: autoPipelining, how: ', auto-pipelining' }),
      rateLimiterFlexible({ points: PLENTY, client: nodeRedis, how: ', node-redis' }),
      rateLimitRedis(PLENTY),
    ],
    references: [bareIncr()],
  }),
  decisions('token bucket, node-redis', {
    sluice: sluice(generousBucket, { client: nodeRedis }),
    peers: [
      rateLimiterFlexible({ points: PLENTY, client: nodeRedis }),
      rateLimiterFlexible({ points: PLENTY, client: ioredis, how: ', ioredis' }),
      rateLimitRedis(PLENTY, nodeRedis),
    ],
    references: [bareIncr(nodeRedis)],
  }),
  // Fixed windows are what the peers do. From here on all use ioredis.
  decisions('fixed window', { sluice: sluice(generousFixed), peers: [flexible, rateLimitRedis(PLENTY)] }),
  // No peer has the algorithms that follow, so they are compared with what its users would use instead.
  besideFixed('sliding window', generousSliding),
  besideFixed('sliding log of 100', turningLog),
  decisions('concurrency, consume and release', {
    sluice: sluiceWithRelease(tenSlots),
    peers: [rateLimiterFlexibleWithReward({ points: PLENTY })],
  }),
  decisions('three limits in one decision', {
    sluice: sluiceOfSeveral({ burst: generousBucket, hourly: generousFixed, sliding: generousSliding }),
    peers: [rateLimiterFlexibleUnion({ points: PLENTY })],
  }),
  // Everything is admitted. The deny cache is off, so that it cannot answer anything.
  decisions(
    'one hot key',
    {
      sluice: sluice(hotBucket, { options: { denyCache: false } }),
      peers: [rateLimiterFlexible({ points: HOT_PLENTY })],
    },
    { keys: 1 },
  ),
  decisions(
    'token bucket, cluster of three',
    {
      sluice: sluice(generousBucket, { client: cluster }),
      peers: [
        rateLimiterFlexible({ points: PLENTY, client: cluster }),
        sluice(generousBucket, { client: cluster, options: { tags: 16 }, name: 'sluice, 16 tags' }),
      ],
    },
    { place: atCluster },
  ),
]

function besideFixed(name: string, policy: Policy): BenchCase {
  return decisions(name, { sluice: sluice(policy), peers: [flexible] })
}
