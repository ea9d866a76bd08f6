import { expected } from '../errors.ts'
import { answered } from '../lookup.ts'
import { allOf, andThen, type Maybe } from '../maybe.ts'
import { BESIDE, Charge, ENFORCED } from '../stores/charge.ts'
import { encodeKey, type Key } from './key.ts'
import { type LayerNames, quoted } from './layers.ts'
import { type BoundLimit, checkCost, type LimitMode } from './limits.ts'

/** Charges of limits with async functions. A waiting request asks the store several times, but each function once. */
export type LateCharges<S> = Map<BoundLimit<S>, Charge | undefined>

/** Turns a subject into the charges of every limit that applies: now, or later if a function answers later. */
export class Charging<S> {
  readonly limits: readonly BoundLimit<S>[]
  /** The only limit of the short form, whose key is the subject itself. */
  readonly only: BoundLimit<S> | undefined
  /** Whether a limit may be decided without being enforced. */
  someShadow = false
  /** Whether some limit answers later. */
  someLate: boolean
  private readonly someReplace: boolean
  private readonly someShare: boolean
  private readonly select: ((subject: S) => Iterable<string>) | undefined
  /** The limits by name; a name with layers has several. */
  private readonly byName: ReadonlyMap<string, readonly BoundLimit<S>[]>

  constructor(
    limits: readonly BoundLimit<S>[],
    layers: LayerNames,
    shortForm: boolean,
    select: ((subject: S) => Iterable<string>) | undefined,
  ) {
    this.limits = limits
    this.select = select
    const byName = new Map(limits.map(limit => [limit.name, [limit]]))
    for (const [name, own] of layers)
      byName.set(
        name,
        limits.filter(limit => own.includes(limit.name)),
      )
    this.byName = byName
    this.someLate = limits.some(limit => limit.isLate)
    this.someReplace = limits.some(limit => limit.replaces !== undefined)
    this.someShare = limits.some(limit => limit.bucket !== undefined)
    this.only = shortForm && limits.length === 1 ? limits[0] : undefined
    this.modesChanged()
  }

  /**
   * The charges of all limits that apply, in declared order. Adds the names of limits that are off to `off`. Adds
   * charges of limits with async functions to `late`; if `late` has such a charge, its functions are not called again.
   */
  all(
    subject: S,
    callCost: number,
    off?: string[],
    limits = this.applying(subject),
    late?: LateCharges<S>,
  ): Maybe<Charge[]> {
    const { only } = this
    // The short form's limit always applies, at the cost of the call.
    if (only?.mode === 'enforce' && typeof only.ruleFor !== 'function') {
      return [new Charge(only, only.ruleFor, subjectKey(subject), callCost, ENFORCED)]
    }
    const charges = new Array<Charge>(limits.length)
    let count = 0
    let waited: Promise<void>[] | undefined
    for (const limit of limits) {
      const mode = modeOf(limit, subject)
      if (mode === 'off') {
        off?.push(limit.name)
        continue
      }
      const role = mode === 'shadow' ? BESIDE : ENFORCED
      const charge = late?.has(limit) ? copyOf(late.get(limit), role) : this.one(limit, subject, callCost, role, true)
      if (charge instanceof Promise) {
        const place = count++
        const found = (made: Charge | undefined) => {
          late?.set(limit, made)
          if (made === undefined) return
          charges[place] = made
          // The key is known now, and the mode may depend on it.
          made.role = modeOf(limit, subject) === 'shadow' ? BESIDE : ENFORCED
        }
        waited ??= []
        waited.push(answered(charge.then(found)))
      } else if (charge !== undefined) charges[count++] = charge
    }
    if (waited !== undefined) return Promise.all(waited).then(() => this.combine(charges.filter(isMade)))
    if (count < charges.length) charges.length = count
    return this.combine(charges)
  }

  private combine(charges: Charge[]): Charge[] {
    if (this.someShare) dropSharedBuckets(charges)
    if (this.someReplace) applyReplacements(charges)
    return charges
  }

  applying(subject: S): readonly BoundLimit<S>[] {
    return this.select === undefined ? this.limits : this.selected(this.select(subject))
  }

  private selected(names: Iterable<string>): BoundLimit<S>[] {
    const limits: BoundLimit<S>[] = []
    for (const name of names) {
      for (const limit of this.allNamed(name)) if (!limits.includes(limit)) limits.push(limit)
    }
    return limits
  }

  /** Call this after setting the mode of a limit. */
  modesChanged(): void {
    this.someShadow = this.limits.some(({ mode }) => mode === 'shadow' || typeof mode === 'function')
  }

  /**
   * A charge on one limit; undefined if it does not apply, and then only its key is asked for. If `ownCost` is true,
   * the limit's own cost wins.
   */
  private one(
    limit: BoundLimit<S>,
    subject: S,
    callCost: number,
    role: number,
    ownCost: boolean,
  ): Maybe<Charge | undefined> {
    const key = this.keyOf(limit, subject)
    const charge =
      key instanceof Promise
        ? key.then(found => this.charge(limit, found, subject, callCost, role, ownCost))
        : this.charge(limit, key, subject, callCost, role, ownCost)
    if (!(charge instanceof Promise)) return charge
    limit.isLate = true
    this.someLate = true
    return answered(charge)
  }

  private charge(
    limit: BoundLimit<S>,
    key: string | undefined,
    subject: S,
    callCost: number,
    role: number,
    ownCost: boolean,
  ): Maybe<Charge | undefined> {
    if (key === undefined) return undefined
    const { ruleFor, cost = callCost } = limit
    const asked = !ownCost ? callCost : typeof cost === 'function' ? cost(subject) : cost
    const chosen = typeof ruleFor === 'function' ? ruleFor(subject) : undefined
    if (!(asked instanceof Promise || chosen instanceof Promise)) return chargeOf(limit, chosen, key, asked, role)
    return Promise.all([asked, chosen]).then(([cost, policy]) => chargeOf(limit, policy, key, cost, role))
  }

  /** The charges of the given limits that apply to the subject. */
  each(limits: readonly BoundLimit<S>[], subject: S, cost: number): Maybe<Charge[]> {
    const asked = limits.map(limit => this.one(limit, subject, cost, ENFORCED, false))
    return andThen(allOf(asked), charges => this.combine(charges.filter(isMade)))
  }

  /**
   * The limit of that name; with a single layer or limit the name may be left out. For options that only one layer can
   * have.
   */
  named(name: string | undefined): BoundLimit<S> {
    const [limit, ...others] = this.allNamed(name)
    if (others.length === 0) return limit!
    const names = quoted([limit!, ...others].map(layer => layer.name))
    throw expected('SLUICE_UNKNOWN_LIMIT', `the name of one layer (${names})`, name)
  }

  /** The limit of that name, or all of its layers. With a single limit the name may be left out. */
  allNamed(name: string | undefined): readonly BoundLimit<S>[] {
    const limits = name === undefined ? this.unnamed : this.byName.get(name)
    if (limits !== undefined) return limits
    throw expected('SLUICE_UNKNOWN_LIMIT', `the name of a limit (${quoted(this.byName.keys())})`, name)
  }

  private get unnamed(): readonly BoundLimit<S>[] | undefined {
    return [...this.byName.values()].find(limits => limits.length === this.limits.length)
  }

  private keyOf(limit: BoundLimit<S>, subject: S): Maybe<string | undefined> {
    if ((subject as unknown) === '') throw badSubject(subject)
    if (limit.keyOf !== undefined) {
      const key = limit.keyOf(subject)
      return key instanceof Promise ? key.then(found => keyText(found, limit)) : keyText(key, limit)
    }
    if (limit === this.only) return subjectKey(subject)
    if (typeof subject !== 'string') return ''
    throw expected('SLUICE_BAD_KEY', `limit '${limit.name}' to have a key, since the subject is a string`, subject)
  }
}

function modeOf<S>({ mode }: BoundLimit<S>, subject: S): LimitMode {
  return typeof mode === 'function' ? mode(subject) : mode
}

function keyText(key: unknown, limit: BoundLimit<never>): string | undefined {
  return key === undefined ? undefined : encodeKey(key as Key, limit.name)
}

/** The key of the short form. */
export function subjectKey(subject: unknown): string {
  if (typeof subject === 'string' && subject !== '') return subject
  throw badSubject(subject)
}

function badSubject(subject: unknown): Error {
  const what = subject === '' ? 'a subject that is not empty' : 'a key as a string'
  return expected('SLUICE_BAD_KEY', what, subject)
}

function chargeOf(limit: BoundLimit<never>, policy: unknown, key: string, cost: unknown, role: number): Charge {
  const { ruleFor } = limit
  const rule = typeof ruleFor === 'function' ? limit.ruleOf(policy) : ruleFor
  return new Charge(limit, rule, key, checkCost(cost), role)
}

/** A charge for another question about the same request, because the store writes into each. */
function copyOf(charge: Charge | undefined, role: number): Charge | undefined {
  return charge && new Charge(charge.limit, charge.rule, charge.key, charge.cost, role)
}

function isMade(charge: Charge | undefined): charge is Charge {
  return charge !== undefined
}

/** Of limits that share a bucket, only the first that applies is charged, so that no state is charged twice. */
function dropSharedBuckets(charges: Charge[]): void {
  for (let i = charges.length - 1; i > 0; i--) {
    const { space } = charges[i]!.limit
    if (charges.findIndex(other => other.limit.space === space) < i) charges.splice(i, 1)
  }
}

/** A shadow takes the place of the limit it replaces, if that limit applies and is enforced. */
function applyReplacements(charges: readonly Charge[]): void {
  for (const charge of charges) {
    const { replaces } = charge.limit as BoundLimit<never>
    if (charge.role === ENFORCED || replaces === undefined) continue
    const place = charges.findIndex(other => (other.limit as BoundLimit<never>).name === replaces)
    charge.role = place >= 0 && charges[place]!.role === ENFORCED ? place : BESIDE
  }
}
