import { fixedWindow, type Policy } from '../../policy.ts'
import type { RateLimit } from './rate-limit.ts'
import { invalid, type RlsDescriptor } from './request.ts'
import { overrideUnit } from './units.ts'

const UINT32_MAX = 2 ** 32 - 1
const MOST_KEPT = 1000
/** Reuses policies, because stores make one rule for each policy object. */
const policies = new Map<string, Policy>()

/** The limit that a request brings along. Its unit must be known: a limit without a period limits nothing. */
export function overrideOf({ requestsPerUnit, unit }: NonNullable<RlsDescriptor['limit']>): RateLimit {
  const known = overrideUnit(unit)
  if (known === undefined) throw invalid('an override with a unit from SECOND (1) to YEAR (6)', unit)
  if (!Number.isInteger(requestsPerUnit) || requestsPerUnit < 0 || requestsPerUnit > UINT32_MAX) {
    throw invalid('an override with requests_per_unit from 0 to 4294967295', requestsPerUnit)
  }
  return {
    policy: policyOf(requestsPerUnit, known.ms),
    current: { requestsPerUnit, unit },
    name: undefined,
    replaces: [],
    onOutage: 'local',
  }
}

function policyOf(limit: number, window: number): Policy {
  const text = `${limit}/${window}`
  let policy = policies.get(text)
  if (policy === undefined) {
    if (policies.size >= MOST_KEPT) policies.clear()
    policy = fixedWindow({ limit, window: `${window}ms` })
    policies.set(text, policy)
  }
  return policy
}
