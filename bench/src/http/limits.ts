import { fixedWindow, slidingWindow, tokenBucket } from 'sluice'
import { all, ip, route } from 'sluice/http'

/** The body of every response. */
export const BODY = 'a short answer, and then its end.'

/** More than a run can use, so that all measured requests pass. */
export const PLENTY = 1_000_000_000

export const one = { policy: tokenBucket({ capacity: PLENTY, refill: '1000/s' }) }

/** As a service would have them: one for all callers, one by address, one by address and route. */
export const three = {
  limits: {
    global: { policy: tokenBucket({ capacity: PLENTY, refill: '1000/s' }) },
    address: { policy: slidingWindow({ limit: PLENTY, window: '1h' }), key: ip() },
    route: { policy: fixedWindow({ limit: PLENTY, window: '1h' }), key: all(ip(), route()) },
  },
}

/** The same two headers as ours, as long as ours, with nothing behind them. */
export const FIELDS = {
  one: {
    RateLimit: '"default";r=999999999;t=1000000',
    'RateLimit-Policy': '"default";q=1000000000;w=1000000',
  },
  three: {
    RateLimit: '"global";r=999999999;t=1000000, "address";r=999999999;t=1800, "route";r=999999999;t=1800',
    'RateLimit-Policy': '"global";q=1000000000;w=1000000, "address";q=1000000000;w=3600, "route";q=1000000000;w=3600',
  },
} as const
