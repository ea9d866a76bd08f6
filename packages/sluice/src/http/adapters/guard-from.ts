import { createGuard, Guard } from '../guard/guard.ts'
import type { GuardOptions } from '../guard/guard-options.ts'

/** `rateLimit` of every adapter takes options, or a guard that the user made to share it or to change it later. */
export function guardFrom<R>(given: GuardOptions<R> | Guard): Guard {
  return given instanceof Guard ? given : createGuard(given)
}
