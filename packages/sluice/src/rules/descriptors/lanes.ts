import { stableHash } from '../../hash.ts'
import type { LimitOptions } from '../../limiter/limits.ts'
import type { Domains } from './descriptor-file.ts'
import type { RateLimit } from './rate-limit.ts'
import { type Entry, rulesOf } from './tree.ts'
import { hitIn, type Wave } from './wave.ts'

/**
 * Where a limit is counted.
 *
 * A limiter looks at all its limits on every request, and rules may be thousands: so they share a fixed number of
 * lanes, each a limit of the limiter that takes policy, key and cost from what is asked. A rule is always in the same
 * lane, since its state is there; that follows from its name alone, so that the other rules may come and go.
 */
export interface Seat {
  readonly lane: string
  /** Which of several limits on one descriptor, from 0. */
  readonly nth: number
}

const LANES = 64
/** Overrides belong to no rule; those of a request mostly differ in their keys. */
const OVERRIDE_LANES = Array.from({ length: 8 }, (_, i) => `override-${i}`)

export function seatsOf(domains: Domains): Map<RateLimit, Seat> {
  const seats = new Map<RateLimit, Seat>()
  for (const level of domains.values()) {
    for (const { name, limits } of rulesOf(level)) {
      for (const [nth, limit] of limits.entries()) seats.set(limit, { lane: laneOf(name, nth, limit), nth })
    }
  }
  return seats
}

/** What decides during an outage is a lane's own, and so part of its name. */
function laneOf(rule: string, nth: number, { onOutage }: RateLimit): string {
  const lane = stableHash(`${rule} ${nth}`, LANES)
  return onOutage === 'local' ? `lane-${lane}` : `lane-${lane}-${onOutage}`
}

export function overrideSeat(entries: readonly Entry[]): Seat {
  const keys = entries.map(({ key }) => key).join('.')
  return { lane: OVERRIDE_LANES[stableHash(keys, OVERRIDE_LANES.length)]!, nth: 0 }
}

/** The limits of the limiter: the lanes that are taken. */
export function laneLimits(seats: ReadonlyMap<RateLimit, Seat>): Record<string, LimitOptions<Wave>> {
  const limits = new Map(OVERRIDE_LANES.map(lane => [lane, laneLimit(lane, 'local')]))
  for (const [{ onOutage }, { lane }] of seats) {
    if (!limits.has(lane)) limits.set(lane, laneLimit(lane, onOutage))
  }
  return Object.fromEntries(limits)
}

function laneLimit(lane: string, onOutage: RateLimit['onOutage']): LimitOptions<Wave> {
  return {
    mode: wave => {
      const hit = hitIn(wave, lane)
      if (hit === undefined) return 'off'
      // A quota refuses only together with the others, so the limiter must not refuse by it alone.
      return hit.effect === 'refuses' ? 'enforce' : 'shadow'
    },
    policy: wave => hitIn(wave, lane)!.policy,
    key: wave => hitIn(wave, lane)?.key,
    cost: wave => hitIn(wave, lane)?.cost ?? 0,
    onOutage,
  }
}
