import type { Contestant } from '../entrant.ts'
import type { Keys } from '../keys.ts'
import { expressRateLimit, rateLimiterFlexible, rateLimiterFlexibleUnion } from './asynchronous-peers.ts'
import { awaited, awaitedNewKeys, awaitedUnion } from './awaited-peer.ts'
import {
  brief,
  hourly,
  PLENTY,
  sliding,
  spent,
  stays,
  tenSlots,
  threeKinds,
  threeOf,
  turningLog,
  whole,
} from './policies.ts'
import { bareMap, clockAndKey } from './references.ts'
import type { Build } from './sluice.ts'
import { fastifyRateLimit, limiter } from './synchronous-peers.ts'

const FEW_KEYS = 10_000
const MANY_KEYS = 1_000_000

/** The module that holds Sluice's loops: one instance for each build. */
type Loops = typeof import('./sluice.ts')

/** The contestants of one run, and the number of keys. */
export interface Decisions {
  readonly keys?: number
  readonly sluice: (loops: Loops, build: Build, keys: Keys) => Contestant
  readonly peers?: (keys: Keys) => Contestant[]
  readonly references?: (keys: Keys) => Contestant[]
}

const floor = (keys: Keys) => [bareMap(PLENTY, keys)]

const bucket: Decisions = {
  sluice: (loops, build, keys) => loops.onePolicy(build, stays, keys),
  peers: keys => [
    rateLimiterFlexible(PLENTY, keys),
    awaited(PLENTY, keys),
    expressRateLimit(PLENTY, keys),
    fastifyRateLimit(PLENTY, keys),
    limiter(PLENTY, 10, keys),
  ],
  references: keys => [bareMap(PLENTY, keys), clockAndKey(keys)],
}

/** By the name of the case. Unless the name says otherwise, keys come back before they are full again, and `allowed` is read. */
export const decisions: Readonly<Record<string, Decisions>> = {
  'token bucket, 10k keys': { ...bucket, keys: FEW_KEYS },
  'token bucket, 1M keys': { ...bucket, keys: MANY_KEYS },
  'token bucket, full again at every visit': {
    sluice: (loops, build, keys) => loops.onePolicy(build, whole, keys),
    peers: keys => [awaited(PLENTY, keys)],
  },
  'token bucket, a new key at every visit': {
    sluice: (loops, build, keys) => loops.newKeys(build, brief, keys),
    peers: () => [awaitedNewKeys()],
  },
  'token bucket, remaining and resetAfterMs read': {
    sluice: (loops, build, keys) => loops.numbersRead(build, stays, keys),
    peers: keys => [awaited(PLENTY, keys, { read: true })],
  },
  'token bucket, cost 5': {
    sluice: (loops, build, keys) => loops.costOfFive(build, stays, keys),
    peers: keys => [awaited(5 * PLENTY, keys, { cost: 5 })],
  },
  'fixed window, 10k keys': {
    sluice: (loops, build, keys) => loops.onePolicy(build, hourly, keys),
    // Fixed windows are what the counting peers do; `limiter` has buckets only.
    peers: keys => [
      rateLimiterFlexible(PLENTY, keys),
      awaited(PLENTY, keys),
      expressRateLimit(PLENTY, keys),
      fastifyRateLimit(PLENTY, keys),
    ],
    references: floor,
  },
  // No peer has a sliding window, so it is compared with what its users would use instead.
  'sliding window, 10k keys': {
    sluice: (loops, build, keys) => loops.onePolicy(build, sliding, keys),
    peers: keys => [awaited(PLENTY, keys)],
    references: floor,
  },
  'three limits, one key for all': {
    sluice: (loops, build, keys) => loops.threeByOneKey(build, stays, keys),
    peers: keys => [rateLimiterFlexibleUnion(PLENTY, keys), awaitedUnion(PLENTY, keys)],
  },
  'three limits, three keys': {
    sluice: (loops, build, keys) => loops.threeLimits(build, threeOf(stays), keys),
    peers: keys => [awaitedUnion(PLENTY, keys)],
  },
  'three limits, one without key': {
    sluice: (loops, build, keys) => loops.threeLimits(build, threeOf(stays), keys, { shared: true }),
    peers: keys => [awaitedUnion(PLENTY, keys)],
  },
  'three limits, three kinds': {
    sluice: (loops, build, keys) => loops.threeLimits(build, threeKinds, keys),
    peers: keys => [awaitedUnion(PLENTY, keys)],
  },
  'three limits, full again at every visit': {
    sluice: (loops, build, keys) => loops.threeLimits(build, threeOf(whole), keys),
    peers: keys => [awaitedUnion(PLENTY, keys)],
  },
  'three limits, remaining and resetAfterMs read': {
    sluice: (loops, build, keys) => loops.threeLimits(build, threeOf(stays), keys, { read: true }),
    peers: keys => [awaitedUnion(PLENTY, keys, { read: true })],
  },
  'sliding log of 100, 10k keys': {
    sluice: (loops, build, keys) => loops.onePolicy(build, turningLog, keys),
    references: floor,
  },
  'concurrency, consume and release, 10k keys': {
    sluice: (loops, build, keys) => loops.slotReleased(build, tenSlots, keys),
    references: floor,
  },
  'refusals, 10k keys': {
    sluice: (loops, build, keys) => loops.onePolicy(build, spent, keys),
    peers: keys => [
      rateLimiterFlexible(1, keys),
      expressRateLimit(1, keys),
      fastifyRateLimit(1, keys),
      limiter(1, 1, keys),
    ],
    references: keys => [bareMap(1, keys)],
  },
}

export const keysIn = ({ keys = FEW_KEYS }: Decisions): number => keys
