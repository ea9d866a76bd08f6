import { concurrency, fixedWindow, type Policy, slidingLog, slidingWindow, tokenBucket } from 'sluice'

/** Never refuses within a run, and no key becomes full again and is forgotten: all contestants keep all keys live. */
export const PLENTY = 1_000_000
export const generousBucket = tokenBucket({ capacity: PLENTY, refill: '10/h' })
export const generousFixed = fixedWindow({ limit: PLENTY, window: '1h' })
export const generousSliding = slidingWindow({ limit: PLENTY, window: '1h' })

/** The window is so short that entries leave about as fast as they come. */
export const turningLog = slidingLog({ limit: 100, window: '1s' })
export const tenSlots = concurrency({ limit: 10, ttl: '1m' })

/** One policy for each kernel. */
export const everyPolicy: Readonly<Record<string, Policy>> = {
  'token bucket': generousBucket,
  'fixed window': generousFixed,
  'sliding window': generousSliding,
  'sliding log of 100': turningLog,
  concurrency: tenSlots,
}
