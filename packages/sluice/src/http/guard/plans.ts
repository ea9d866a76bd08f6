import { brand } from '../../brand.ts'
import { expected } from '../../errors.ts'
import { limitOfPolicy, type Policy, type PolicyLike, policyOf } from '../../policy.ts'
import type { FoundOnRequest } from '../request/known-caller.ts'
import type { RequestView } from '../request/request-facts.ts'

/** Chooses a policy by plan. The table can be changed at any time; what a caller has used stays used. */
export interface Plans<R = RequestView> {
  (r: R): Policy
  /** The policy for a plan that is not in the table. */
  readonly strictest: Policy
  /** The policies of all plans. */
  readonly all: readonly Policy[]
  /** Adds or changes a plan. The next request sees it. */
  set(plan: string, policy: PolicyLike): void
}

/** A plan that is not in the table: it is misspelt, or newer than this process. */
export class UnknownPlan extends Error {
  override readonly name = 'UnknownPlan'
  readonly plan: string

  constructor(plan: string, known: readonly string[]) {
    super(`expected one of the plans ${known.join(', ')}, got '${plan}'; the strictest is used`)
    this.plan = plan
  }
}
brand('UnknownPlan', UnknownPlan)

/**
 * `plans({ anonymous: '60/h', free: '100/m', pro: '1000/m' })` as a limit's `policy`. The plan is `r.user.plan`,
 * `r.auth.plan` or `r.plan` unless `planOf` says otherwise. A caller without a plan is `anonymous`, or gets the
 * strictest.
 */
export function plans(table: Readonly<Record<string, PolicyLike>>): Plans
export function plans<R = RequestView>(
  table: Readonly<Record<string, PolicyLike>>,
  planOf: (r: R) => string | undefined,
): Plans<R>
export function plans(
  table: Readonly<Record<string, PolicyLike>>,
  planOf: (r: RequestView) => string | undefined = foundPlan,
): Plans {
  if (typeof table !== 'object' || table === null || Object.keys(table).length === 0) {
    throw expected('SLUICE_BAD_OPTION', "plans such as { anonymous: '60/h', pro: '1000/m' }", table)
  }
  if (typeof planOf !== 'function') throw expected('SLUICE_BAD_OPTION', 'planOf as a function of the request', planOf)
  const policies = new Map(Object.entries(table).map(([plan, policy]) => [plan, policyOf(policy)]))
  let least = strictest([...policies.values()])!

  const choose = (r: RequestView): Policy => {
    const plan = planOf(r) ?? 'anonymous'
    const policy = policies.get(plan)
    if (policy !== undefined) return policy
    if (plan === 'anonymous') return least
    throw new UnknownPlan(String(plan), [...policies.keys()])
  }
  const set = (plan: string, policy: PolicyLike) => {
    policies.set(plan, policyOf(policy))
    least = strictest([...policies.values()])!
  }
  return Object.defineProperties(Object.assign(choose, { set }), {
    strictest: { get: () => least },
    all: { get: () => [...policies.values()] },
  }) as unknown as Plans
}

function foundPlan(r: RequestView): string | undefined {
  const { user, auth, plan } = r as FoundOnRequest
  return user?.plan ?? auth?.plan ?? plan
}

/** The policy that admits least in the long run; if several do, the one with the smallest burst. */
export function strictest(policies: readonly Policy[]): Policy | undefined {
  let least: Policy | undefined
  for (const policy of policies) if (least === undefined || isStricter(policy, least)) least = policy
  return least
}

export function isStricter(a: Policy, b: Policy): boolean {
  const [rateA, rateB] = [perMs(a), perMs(b)]
  return rateA === rateB ? limitOfPolicy(a) < limitOfPolicy(b) : rateA < rateB
}

const DAY_MS = 86_400_000
const CALENDAR_MS: Readonly<Record<string, number>> = { day: DAY_MS, week: 7 * DAY_MS, month: 30 * DAY_MS }

/** Requests per millisecond in the long run. A slot may come back at any time, so every rate is stricter than slots. */
function perMs(policy: Policy): number {
  switch (policy.kind) {
    case 'tokenBucket':
      return rateOrNothing(policy.capacity, policy.refill)
    case 'leakyBucket':
      return rateOrNothing(policy.capacity, policy.leak)
    case 'gcra':
      return rateOrNothing(policy.burst, policy.rate)
    case 'concurrency':
      return policy.limit === 0 ? 0 : Infinity
    case 'fixedWindow':
      return policy.limit / (CALENDAR_MS[policy.align] ?? policy.windowMs)
    default:
      return policy.limit / policy.windowMs
  }
}

/** A bucket of size 0 admits nothing, however fast it refills. */
function rateOrNothing(size: number, { count, periodMs }: { count: number; periodMs: number }): number {
  return size === 0 ? 0 : count / periodMs
}
