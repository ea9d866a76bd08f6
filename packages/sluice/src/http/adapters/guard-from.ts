import { createGuard, Guard } from '../guard/guard.ts'
import type { GuardOptions } from '../guard/guard-options.ts'

/** What every adapter's `rateLimit` is given: options, or a guard made before to share it or to change it later. */
export function guardFrom(given: GuardOptions | Guard): Guard {
  return given instanceof Guard ? given : createGuard(given)
}
