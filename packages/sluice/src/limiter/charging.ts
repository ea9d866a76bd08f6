import type { Rule } from '../algorithms/rule.ts'
import { expected } from '../errors.ts'
import { BESIDE, Charge, ENFORCED } from '../stores/charge.ts'
import { encodeKey } from './key.ts'
import { type BoundLimit, checkCost, checkMode } from './limits.ts'

/** From a subject to what each limit charges it. */
export class Charging<S> {
  readonly limits: readonly BoundLimit<S>[]
  /** The short form's one limit, whose key is the subject itself. */
  readonly only: BoundLimit<S> | undefined
  /** Whether a limit may be decided without being enforced. */
  someShadow = false
  private readonly someReplace: boolean
  private readonly someShare: boolean
  private readonly select: ((subject: S) => Iterable<string>) | undefined
  private readonly byName: ReadonlyMap<string, BoundLimit<S>>

  constructor(limits: readonly BoundLimit<S>[], shortForm: boolean, select?: (subject: S) => Iterable<string>) {
    this.limits = limits
    this.select = select
    this.byName = new Map(limits.map(limit => [limit.name, limit]))
    this.someReplace = limits.some(limit => limit.replaces !== undefined)
    this.someShare = limits.some(limit => limit.bucket !== undefined)
    this.only = shortForm ? limits[0] : undefined
  }

  /** The charges of all limits that apply, in declared order. The names of those that are off go to `off`. */
  all(subject: S, callCost: number, off?: string[]): Charge[] {
    // The short form's limit always applies, at the cost of the call.
    if (this.only?.mode === 'enforce') return [this.one(this.only, subject, callCost)!]
    const limits = this.select === undefined ? this.limits : this.selected(this.select(subject))
    const charges = new Array<Charge>(limits.length)
    let count = 0
    for (const limit of limits) {
      const mode = typeof limit.mode === 'function' ? checkMode(limit.mode(subject)) : limit.mode
      if (mode === 'off') {
        off?.push(limit.name)
        continue
      }
      const { cost } = limit
      const own = cost === undefined ? callCost : typeof cost === 'function' ? checkCost(cost(subject)) : cost
      const charge = this.one(limit, subject, own, mode === 'shadow' ? BESIDE : ENFORCED)
      if (charge !== undefined) charges[count++] = charge
    }
    if (count < charges.length) charges.length = count
    if (this.someShare) dropSharedBuckets(charges)
    if (this.someReplace) applyReplacements(charges)
    return charges
  }

  private selected(names: Iterable<string>): BoundLimit<S>[] {
    const limits: BoundLimit<S>[] = []
    for (const name of names) {
      const limit = this.named(name)
      if (!limits.includes(limit)) limits.push(limit)
    }
    return limits
  }

  /** To be called when the mode of a limit was set. */
  modesChanged(): void {
    this.someShadow = this.limits.some(({ mode }) => mode === 'shadow' || typeof mode === 'function')
  }

  /** A charge on one limit; undefined where it does not apply. */
  one(limit: BoundLimit<S>, subject: S, cost: number, role = ENFORCED): Charge | undefined {
    const key = this.keyOf(limit, subject)
    if (key === undefined) return undefined
    const rule: Rule = typeof limit.ruleFor === 'function' ? limit.ruleFor(subject) : limit.ruleFor
    return new Charge(limit, rule, key, cost, role)
  }

  /** The same charge on several limits, those left out to which it does not apply. */
  each(limits: readonly BoundLimit<S>[], subject: S, cost: number): Charge[] {
    const charges = limits.map(limit => this.one(limit, subject, cost)).filter(charge => charge !== undefined)
    if (this.someShare) dropSharedBuckets(charges)
    return charges
  }

  /** The limit of that name; the only one needs none. */
  named(name: string | undefined): BoundLimit<S> {
    if (name === undefined && this.limits.length === 1) return this.limits[0]!
    const limit = this.byName.get(name as string)
    if (limit !== undefined) return limit
    const names = this.limits.map(one => `'${one.name}'`).join(', ')
    throw expected('SLUICE_UNKNOWN_LIMIT', `the name of a limit (${names})`, name)
  }

  private keyOf(limit: BoundLimit<S>, subject: S): string | undefined {
    if ((subject as unknown) === '') throw expected('SLUICE_BAD_KEY', 'a subject that is not empty', subject)
    if (limit.keyOf !== undefined) {
      const key = limit.keyOf(subject)
      return key === undefined ? undefined : encodeKey(key, limit.name)
    }
    if (limit === this.only) {
      if (typeof subject === 'string') return subject
      throw expected('SLUICE_BAD_KEY', 'a key as a string', subject)
    }
    if (typeof subject !== 'string') return ''
    throw expected('SLUICE_BAD_KEY', `limit '${limit.name}' to have a key, since the subject is a string`, subject)
  }
}

/** Of limits that share a bucket, the first that applies stands for all of them: no state is charged twice. */
function dropSharedBuckets(charges: Charge[]): void {
  for (let i = charges.length - 1; i > 0; i--) {
    const { space } = charges[i]!.limit
    if (charges.findIndex(other => other.limit.space === space) < i) charges.splice(i, 1)
  }
}

/** A shadow that replaces a limit takes its place, if that one applies and is enforced. */
function applyReplacements(charges: readonly Charge[]): void {
  for (const charge of charges) {
    const { replaces } = charge.limit as BoundLimit<never>
    if (charge.role === ENFORCED || replaces === undefined) continue
    const place = charges.findIndex(other => (other.limit as BoundLimit<never>).name === replaces)
    charge.role = place >= 0 && charges[place]!.role === ENFORCED ? place : BESIDE
  }
}
