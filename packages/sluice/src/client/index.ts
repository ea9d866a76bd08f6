export type { AdaptiveThrottleOptions } from './adaptive-throttle.ts'
export { type BackoffOptions, backoff } from './backoff.ts'
export {
  type RateLimitInfo,
  type ReadOptions,
  readRateLimit,
  type ToldLimit,
  type ToldResponse,
} from './read-rate-limit.ts'
