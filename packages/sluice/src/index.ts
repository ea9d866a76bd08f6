export type { Rule } from './algorithms/rule.ts'
export type { Clock } from './clock.ts'
export type { Decision, DecisionJson, Degraded, LimitState, ObservedDecision, Reason } from './decision.ts'
export type { Duration, Rate, RateText } from './duration.ts'
export { type ErrorCode, SluiceError, StoreUnavailable } from './errors.ts'
export { stableHash } from './hash.ts'
export { createLimiter } from './limiter/create.ts'
export type { LimitInspection } from './limiter/inspection.ts'
export type { Key } from './limiter/key.ts'
export type { Layers } from './limiter/layers.ts'
export type {
  CostOption,
  Limiter,
  LimiterEvent,
  LimiterOptions,
  LoneLimitOptions,
  NamedLimits,
  Observer,
  WaitOptions,
} from './limiter/limiter.ts'
export {
  type LayeredLimit,
  type LimitMode,
  type LimitOptions,
  type LimitsByName,
  limits,
} from './limiter/limits.ts'
export type { OnOutage, OutageMode } from './limiter/outage/on-outage.ts'
export type { Reservation, SavedReservation, Settlement } from './limiter/reservation.ts'
export type { ShadowState } from './limiter/shadow-report.ts'
export {
  type ConcurrencyPolicy,
  concurrency,
  type FixedWindowOptions,
  type FixedWindowPolicy,
  fixedWindow,
  type GcraPolicy,
  gcra,
  type LeakyBucketPolicy,
  leakyBucket,
  type Policy,
  type PolicyLike,
  policyOf,
  type SlidingLogPolicy,
  type SlidingWindowPolicy,
  slidingLog,
  slidingWindow,
  type TokenBucketPolicy,
  tokenBucket,
} from './policy.ts'
export { Charge, ENFORCED, isTaken, refusedOf } from './stores/charge.ts'
export {
  bucketData,
  fixedData,
  type HeldCost,
  heldCosts,
  type KeyInspection,
  type LimitData,
  logData,
  slidingData,
  slotsData,
  type WindowCounter,
} from './stores/inspection.ts'
export { kernels } from './stores/kernels.ts'
export type { BlockRule, Limit, Space } from './stores/limit.ts'
export { KeyState } from './stores/memory/key-state.ts'
export {
  type MemoryStats,
  type MemoryStore,
  type MemoryStoreOptions,
  memoryStore,
} from './stores/memory/memory-store.ts'
export type { StoreEvent } from './stores/remote/remote-store.ts'
export {
  type Answer,
  type Change,
  HOLDS_PLAYED,
  type Intent,
  MOST_HOLDS,
  type Mode,
  type Question,
  type Store,
} from './stores/store.ts'
export { StoreTime } from './stores/store-time.ts'
export type { Warning, WarningCode } from './warning.ts'
