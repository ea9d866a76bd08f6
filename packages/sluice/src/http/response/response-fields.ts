import { TICKS_PER_MS } from '../../clock.ts'
import type { Decision, LimitState } from '../../decision.ts'
import type { ChargedDecision } from '../../limiter/charged-decision.ts'
import { encodeKey } from '../../limiter/key.ts'
import { type Policy, policyOf } from '../../policy.ts'
import { delayMs } from '../guard/delay.ts'
import { type GuardLimit, setsAside } from '../guard/guard-limit.ts'
import type { RequestFacts } from '../request/request-facts.ts'
import { hashOf, sha256 } from '../request/sha256.ts'
import { asIfSettled, withNextUnit } from './as-if-settled.ts'
import { type Description, describe, exposedNames, type HeaderFamily, writeFields } from './headers.ts'

const NOTHING: readonly string[] = []
const TICK_MS = 1 / TICKS_PER_MS

/** Turns a decision into the header fields for the caller. */
export class ResponseFields {
  readonly exposed: string
  private readonly limits: ReadonlyMap<string, AnsweredLimit>
  private readonly families: readonly HeaderFamily[]
  /** Makes the parameter `pk` from a limit and its key. */
  private readonly partitionOf: ((limit: string, key: string) => string) | undefined
  private readonly someDelay: boolean
  private readonly someQuiet: boolean
  private readonly someSetAside: boolean

  constructor(
    limits: Readonly<Record<string, GuardLimit>>,
    families: readonly HeaderFamily[],
    bucketId: (bucket: readonly string[]) => string,
    partitionSecret: string | undefined,
  ) {
    this.partitionOf = partitionSecret === undefined ? undefined : partitions(partitionSecret)
    const all = Object.entries(limits).map(([name, limit], i) => new AnsweredLimit(name, i, limit, bucketId))
    this.limits = new Map(all.map(limit => [limit.name, limit]))
    this.families = families
    this.exposed = exposedNames(families)
    this.someDelay = all.some(({ limit }) => limit.delay !== undefined)
    this.someQuiet = all.some(({ limit }) => limit.quiet === true)
    this.someSetAside = all.some(({ limit }) => setsAside(limit))
  }

  /**
   * Whether to ask the limits once more without a charge. The fields of a window with nothing left tell when it has one
   * more unit, and only a refusal gives that time.
   */
  wantsLook(decision: Decision, facts: RequestFacts): boolean {
    if (this.families.length === 0 || !decision.allowed) return false
    return decision.limits.some(
      state => state.remaining === 0 && !state.shadow && LOOKED_AT.has(this.descriptionOf(state, facts).pace.frees),
    )
  }

  /**
   * The limits of a decision with the times that callers are told. `look` is the second check, if `wantsLook` asked for
   * it.
   */
  told({ limits, charges }: ChargedDecision, look: Decision | undefined): readonly LimitState[] {
    if (!this.someSetAside && !limits.some(isSpent)) return limits
    return limits.map((state, i) => {
      const charge = charges[i]!
      const { limit } = this.limitOf(state)
      // A refusal that starts a block keeps its time, which is the end of the block.
      const isWaited = setsAside(limit) && (state.allowed || limit.blockFor === undefined)
      if (isWaited) return asIfSettled(withNext(state, look), charge)
      return charge.rule.kind === 'bucket' && isSpent(state) ? withNextUnit(state, charge) : withNext(state, look)
    })
  }

  /** Name, value, name, value … for every limit that the caller may know of. `states` come from `told`. */
  fields(decision: ChargedDecision, states: readonly LimitState[], facts: RequestFacts): readonly string[] {
    const { families } = this
    if (families.length === 0) return NOTHING
    const out: string[] = []
    const shown = states.filter(state => !state.shadow && !this.isHidden(state))
    const described = shown.map(state => this.descriptionOf(state, facts))
    // The binding limit may be quiet and so not shown; `binding` is then -1.
    const binding = shown.findIndex(({ name }) => name === decision.policy)
    writeFields(families, described, shown, binding, decision.at, out, this.partitionsOf(decision, states, shown))
    return out
  }

  private partitionsOf(
    { keys }: ChargedDecision,
    states: readonly LimitState[],
    shown: readonly LimitState[],
  ): string[] | undefined {
    const { partitionOf } = this
    if (partitionOf === undefined) return undefined
    return shown.map(state => partitionOf(state.name, keys[states.indexOf(state)]!))
  }

  /** How long to delay the request: the longest delay of its limits. */
  delayMs(decision: ChargedDecision, facts: RequestFacts): number {
    if (!this.someDelay) return 0
    let longest = 0
    for (const [i, state] of decision.limits.entries()) {
      const { limit, fixed, index } = this.limitOf(state)
      const policy = fixed?.policy ?? facts.chosen?.[index]
      if (limit.delay === undefined || policy === undefined || state.shadow) continue
      const cost = typeof limit.cost === 'number' ? limit.cost : (facts.costs?.[index] ?? 1)
      const ms = delayMs(policy, state, cost, limit.delay)
      if (ms > 0) decision.startLater(i, ms)
      longest = Math.max(longest, ms)
    }
    return longest
  }

  /** Whether all callers share the limit. The bucket of preflights is not among the limits; it counts by caller. */
  isShared(name: string): boolean {
    const found = this.limits.get(name)
    return found !== undefined && found.limit.key === undefined
  }

  /** The status of a refusal by this limit, if the limit sets one. */
  statusOf(name: string): number | undefined {
    return this.limits.get(name)?.limit.status
  }

  /** Whether a quiet limit refused, which callers must not learn. */
  isQuiet(states: readonly LimitState[]): boolean {
    return states.some(state => !state.allowed && !state.shadow && this.isHidden(state))
  }

  private isHidden(state: LimitState): boolean {
    return this.someQuiet && this.limits.get(state.name)?.limit.quiet === true
  }

  private descriptionOf(state: LimitState, facts: RequestFacts): Description {
    return this.limitOf(state).descriptionFor(facts)
  }

  private limitOf({ name }: LimitState): AnsweredLimit {
    return this.limits.get(name)!
  }
}

/** A keyed hash, so that only the owner of the secret can tell which caller it stands for. */
function partitions(secret: string): (limit: string, key: string) => string {
  return (limit, key) =>
    base64(sha256(`${secret}\0${hashOf(`${secret}\0${encodeKey([limit, key], limit)}`)}`).subarray(0, 12))
}

function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
}

/** For these, only the store knows when one more unit comes free. */
const LOOKED_AT: ReadonlySet<string> = new Set(['by sub-window', 'by entry'])

function isSpent({ allowed, remaining }: LimitState): boolean {
  return allowed && remaining === 0
}

function withNext(state: LimitState, look: Decision | undefined): LimitState {
  if (state.remaining > 0 || look === undefined) return state
  const looked = look.limits.find(({ name }) => name === state.name)
  if (looked === undefined || looked.retryAfterMs === Infinity) return state
  // One unit passes by now, so its time was less than a tick away.
  return { ...state, retryAfterMs: Math.max(TICK_MS, looked.retryAfterMs) }
}

class AnsweredLimit {
  readonly name: string
  readonly index: number
  readonly limit: GuardLimit
  /** Set if the policy is the same for every caller. */
  readonly fixed: Description | undefined
  private readonly described = new WeakMap<Policy, Description>()
  private readonly options: { bucket: string; unit?: string }

  constructor(name: string, index: number, limit: GuardLimit, bucketId: (bucket: readonly string[]) => string) {
    this.name = name
    this.index = index
    this.limit = limit
    const unit = limit.unit ?? (limit.settle === 'bytes' ? 'content-bytes' : undefined)
    const bucket = limit.bucket === undefined ? [name] : ['bucket', limit.bucket]
    this.options = { bucket: bucketId(bucket), ...(unit !== undefined && { unit }) }
    const { policy } = limit
    this.fixed = typeof policy === 'function' ? undefined : describe(name, policyOf(policy), this.options)
  }

  descriptionFor(facts: RequestFacts): Description {
    if (this.fixed !== undefined) return this.fixed
    const policy = facts.chosen![this.index]!
    let description = this.described.get(policy)
    if (description === undefined) {
      description = describe(this.name, policy, this.options)
      this.described.set(policy, description)
    }
    return description
  }
}
