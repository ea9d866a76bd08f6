import type { LoneLane, SharedLane } from '../stores/lane.ts'
import type { Store } from '../stores/store.ts'
import type { Charging } from './charging.ts'
import type { BoundLimit } from './limits.ts'

/** For those who take the answer out of a lane themselves. */
export type { Keys, SharedLane } from '../stores/lane.ts'

/** The express lanes for requests of cost 1, while every limit is enforced by one rule in a store that has them. */
export interface OpenLanes {
  /** Of the short form's one limit. */
  readonly lane: LoneLane | undefined
  /** Of named limits. */
  readonly sharedLane: SharedLane | undefined
}

export function openLanes<S>({ only, limits, selects }: Charging<S>, store: Store): OpenLanes {
  const lanes = limits.map(limit => laneOf(limit, store)).filter(lane => lane !== undefined)
  const isOpen = lanes.length === limits.length && !selects
  return {
    lane: isOpen && only !== undefined ? lanes[0] : undefined,
    sharedLane: isOpen && only === undefined ? store.sharedLane?.(lanes) : undefined,
  }
}

function laneOf<S>(limit: BoundLimit<S>, store: Store): LoneLane | undefined {
  const { mode, ruleFor, cost, bucket } = limit
  if (mode !== 'enforce' || typeof ruleFor === 'function' || cost !== undefined || bucket !== undefined) {
    return undefined
  }
  return store.mode === 'sync' ? store.lane?.(limit, ruleFor) : undefined
}
