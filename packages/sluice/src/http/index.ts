export type { RefusalParts } from './changed-refusal.ts'
export { addressRanges } from './cidr.ts'
export { type AddressSource, clientAddress, type TrustProxy } from './client-address.ts'
export type { Ended } from './ended.ts'
export type { Seen } from './facts.ts'
export { createGuard, type Guard } from './guard.ts'
export type { GuardEvent } from './guard-event.ts'
export type { GuardLimit } from './guard-limit.ts'
export type { GuardOptions, GuardSettings } from './guard-options.ts'
export { type Description, describe as describeLimit, type HeaderFamily, type Shown, writeFields } from './headers.ts'
export {
  all,
  apiKey,
  firstOf,
  header,
  type Identity,
  ip,
  route,
  session,
  tenant,
  user,
  userAgent,
  username,
} from './identity.ts'
export { type LoginOptions, loginLimits } from './login.ts'
export { canonicalPath, pathsOf } from './path-readings.ts'
export { type Plans, plans } from './plans.ts'
export type { Route } from './route-options.ts'
