export type { Ended } from './ended.ts'
export type { Seen } from './facts.ts'
export { createGuard, type Guard } from './guard.ts'
export type { GuardEvent } from './guard-event.ts'
export type { GuardLimit } from './guard-limit.ts'
export type { GuardOptions, GuardSettings } from './guard-options.ts'
export type { HeaderFamily } from './headers.ts'
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
export { type Plans, plans } from './plans.ts'
export type { RefusalParts } from './refusal.ts'
export type { Route } from './route-options.ts'
