import type { LimitState } from '../decision.ts'
import type { ChargedDecision } from '../limiter/charged-decision.ts'
import type { SharedLane } from '../limiter/open-lanes.ts'
import { type Policy, policyOf } from '../policy.ts'
import { delayMs } from './delay.ts'
import type { Facts } from './facts.ts'
import type { GuardLimit } from './guard-limit.ts'
import { type Description, describe, exposedNames, type HeaderFamily, writeFields } from './headers.ts'
import { PlainFields } from './plain-fields.ts'

const NOTHING: readonly string[] = []

/** From a decision to what the caller is told. */
export class Answering {
  readonly exposed: string
  private readonly limits: readonly AnsweredLimit[]
  private readonly families: readonly HeaderFamily[]
  /** Where each limit has one policy and none is quiet: nothing is to be picked then. */
  private readonly plain: PlainFields | undefined
  private readonly someDelay: boolean
  private readonly someQuiet: boolean

  constructor(
    limits: Readonly<Record<string, GuardLimit>>,
    families: readonly HeaderFamily[],
    bucketId: (bucket: readonly string[]) => string,
  ) {
    this.limits = Object.entries(limits).map(([name, limit]) => new AnsweredLimit(name, limit, bucketId))
    this.families = families
    this.exposed = exposedNames(families)
    const known = this.limits.filter(({ limit }) => limit.quiet !== true).flatMap(({ fixed }) => fixed ?? [])
    const isPlain = known.length === this.limits.length && families.every(family => family === 'draft-11')
    this.plain = isPlain ? new PlainFields(known) : undefined
    this.someDelay = this.limits.some(({ limit }) => limit.delay !== undefined)
    this.someQuiet = this.limits.some(({ limit }) => limit.quiet === true)
  }

  /** Name, value, name, value …: of every limit that applied and that the caller may know of. */
  fields(decision: ChargedDecision, facts: Facts): readonly string[] {
    const { families, plain } = this
    if (families.length === 0) return NOTHING
    if (plain?.fit(decision)) return plain.of(decision.charges)
    const out: string[] = []
    const shown = decision.limits.filter(state => !state.shadow && this.limitOf(state).limit.quiet !== true)
    const described = shown.map(state => this.limitOf(state).descriptionFor(facts, this.indexOf(state)))
    writeFields(families, described, shown, indexOf(shown, decision.policy), decision.at, out)
    return out
  }

  /** Whether nothing need be known of a request that passes but its numbers. */
  get tellsNumbers(): boolean {
    return !this.someDelay && (this.families.length === 0 || this.plain !== undefined)
  }

  /** The same of a request that has just passed in a lane, where the numbers are enough. */
  fieldsIn(lane: SharedLane): readonly string[] {
    return this.families.length === 0 ? NOTHING : this.plain!.ofLane(lane)
  }

  /** How long to wait for the turn: the longest of the limits that delay. */
  delayMs(decision: ChargedDecision, facts: Facts): number {
    if (!this.someDelay) return 0
    let longest = 0
    for (const [i, state] of decision.limits.entries()) {
      const index = this.indexOf(state)
      const { limit, fixed } = this.limits[index]!
      const policy = fixed?.policy ?? facts.chosen?.[index]
      if (limit.delay === undefined || policy === undefined || state.shadow) continue
      const cost = typeof limit.cost === 'number' ? limit.cost : (facts.costs?.[index] ?? 1)
      const ms = delayMs(policy, state, cost, limit.delay)
      if (ms > 0) decision.startLater(i, ms)
      longest = Math.max(longest, ms)
    }
    return longest
  }

  /** A limit of everybody's, not of the caller. The bucket of preflights is none of the limits, and by caller. */
  isShared(name: string): boolean {
    const found = this.limits.find(limit => limit.name === name)
    return found !== undefined && found.limit.key === undefined
  }

  /** Whether a limit that refused must not be known. */
  isQuiet(states: readonly LimitState[]): boolean {
    return (
      this.someQuiet &&
      states.some(
        state =>
          !state.allowed && !state.shadow && this.limits.find(({ name }) => name === state.name)?.limit.quiet === true,
      )
    )
  }

  private limitOf({ name }: LimitState): AnsweredLimit {
    return this.limits.find(limit => limit.name === name)!
  }

  private indexOf({ name }: LimitState): number {
    return this.limits.findIndex(limit => limit.name === name)
  }
}

class AnsweredLimit {
  readonly name: string
  readonly limit: GuardLimit
  /** Where the policy is the same for everybody. */
  readonly fixed: Description | undefined
  private readonly described = new WeakMap<Policy, Description>()
  private readonly options: { bucket: string; unit?: string }

  constructor(name: string, limit: GuardLimit, bucketId: (bucket: readonly string[]) => string) {
    this.name = name
    this.limit = limit
    const unit = limit.settle === 'bytes' ? 'content-bytes' : limit.settle === 'ms' ? 'milliseconds' : undefined
    const bucket = limit.bucket === undefined ? [name] : ['bucket', limit.bucket]
    this.options = { bucket: bucketId(bucket), ...(unit !== undefined && { unit }) }
    const { policy } = limit
    this.fixed = typeof policy === 'function' ? undefined : describe(name, policyOf(policy), this.options)
  }

  descriptionFor(facts: Facts, index: number): Description {
    if (this.fixed !== undefined) return this.fixed
    const policy = facts.chosen![index]!
    let description = this.described.get(policy)
    if (description === undefined) {
      description = describe(this.name, policy, this.options)
      this.described.set(policy, description)
    }
    return description
  }
}

/** A quiet limit may bind and not be shown: then there is no binding one to show. */
function indexOf(states: readonly LimitState[], name: string): number {
  return states.findIndex(state => state.name === name)
}
