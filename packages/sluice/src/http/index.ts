export { addressRanges } from './address/cidr.ts'
export { type AddressSource, clientAddress, type TrustProxy } from './address/client-address.ts'
export { createGuard, type Guard } from './guard/guard.ts'
export type { GuardLimit, GuardLimits, LayeredGuardLimit, ResponseEnd } from './guard/guard-limit.ts'
export type { GuardEvent, GuardOptions, GuardSettings } from './guard/guard-options.ts'
export type { OperatorTarget } from './guard/operators.ts'
export { decisionOf } from './guard/outcome.ts'
export { type Plans, plans } from './guard/plans.ts'
export type { Route } from './guard/route-guards.ts'
export { type LoginOptions, loginLimits } from './login/login.ts'
export { all, apiKey, firstOf, header, type Identity, ip, route, userAgent } from './request/identity.ts'
export { jwt, session, tenant, user, username } from './request/known-caller.ts'
export { canonicalPath, pathsOf } from './request/path-readings.ts'
export type { RequestView } from './request/request-facts.ts'
export type { RefusalParts } from './response/changed-refusal.ts'
export {
  type Description,
  describe as describeLimit,
  type HeaderFamily,
  type Shown,
  writeFields,
} from './response/headers.ts'
