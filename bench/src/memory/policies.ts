import { concurrency, fixedWindow, type Policy, slidingLog, slidingWindow, tokenBucket } from 'sluice'

/** A limit so large that every contestant admits everything. */
export const PLENTY = 1_000_000

/**
 * Never refuses, and never refills within a run: Sluice may forget a key that is full again, and would then be timed with
 * fewer live keys than its peers.
 */
export const stays = tokenBucket({ capacity: PLENTY, refill: '10/h' })
/** Full again 10 µs after a decision, so full at each one. Most callers of a real API pause for longer than that. */
export const whole = tokenBucket({ capacity: PLENTY, refill: '100000/s' })
/** For keys that never come back: Sluice can forget them during the run, as the peer can. */
export const brief = tokenBucket({ capacity: 100, refill: '1000/s' })
export const hourly = fixedWindow({ limit: PLENTY, window: '1h' })
export const sliding = slidingWindow({ limit: PLENTY, window: '1h' })
/** The window is short enough for the entries to leave about as fast as they come: full rings that keep turning. */
export const turningLog = slidingLog({ limit: 100, window: '100ms' })
export const tenSlots = concurrency({ limit: 10, ttl: '1m' })
/** The fill takes the only token of the hour. */
export const spent = tokenBucket({ capacity: 1, refill: '1/h' })

export const threeOf = (policy: Policy) => [policy, policy, policy] as const
export const threeKinds = [stays, hourly, sliding] as const
