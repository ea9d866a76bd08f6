import { bucketFaults } from './buckets.ts'
import { entryFaults } from './entries.ts'
import type { Fault } from './fault.ts'
import { keyFaults } from './keys.ts'
import { limiterFaults } from './limiter.ts'
import { storeFaults } from './store.ts'
import { windowFaults } from './windows.ts'

/** By the first law each breaks. */
export const FAULTS: readonly Fault[] = [
  ...[...bucketFaults, ...windowFaults, ...entryFaults],
  ...[...storeFaults, ...keyFaults, ...limiterFaults],
].sort((a, b) => a.law[0]! - b.law[0]!)
