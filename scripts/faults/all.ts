import { bucketFaults } from './buckets.ts'
import { denyCacheFaults } from './deny-cache.ts'
import { entryFaults } from './entries.ts'
import type { Fault } from './fault.ts'
import { guardFaults } from './guard.ts'
import { keyFaults } from './keys.ts'
import { limiterFaults } from './limiter.ts'
import { outageFaults } from './outages.ts'
import { storeFaults } from './store.ts'
import { windowFaults } from './windows.ts'

/** By the first law each breaks. */
export const FAULTS: readonly Fault[] = [
  ...[...bucketFaults, ...windowFaults, ...entryFaults],
  ...[...storeFaults, ...keyFaults, ...limiterFaults],
  ...[...denyCacheFaults, ...outageFaults, ...guardFaults],
].sort((a, b) => a.law[0]! - b.law[0]!)
