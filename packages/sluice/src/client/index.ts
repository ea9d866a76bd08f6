export type { AdaptiveThrottleOptions } from './adaptive-throttle.ts'
export { type BackoffOptions, backoff } from './backoff.ts'
export { CallRefused } from './call-refused.ts'
export { createFetch } from './create-fetch.ts'
export type { FetchEvent, FetchOptions } from './fetch-options.ts'
export {
  type RateLimitInfo,
  type ReadOptions,
  readRateLimit,
  type ToldLimit,
  type ToldResponse,
} from './read-rate-limit.ts'
export { type CallOptions, type Shaped, type ShapeOptions, shape } from './shape.ts'
