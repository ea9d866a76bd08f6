import { checkSyncFunction } from '../check-options.ts'
import { after, type Clock } from '../clock.ts'
import { expected, isAsyncFunction, SluiceError } from '../errors.ts'
import type { Maybe } from '../maybe.ts'
import { BESIDE, Charge, ENFORCED } from '../stores/charge.ts'
import { encodeKey, type Key } from './key.ts'
import { type LayerNames, quoted } from './layers.ts'
import { type BoundLimit, checkCost, checkMode } from './limits.ts'

/** Thrown when a function answers with a promise for the first time, so that the limits are looked up instead. */
export const ANSWERS_LATER = Symbol('answers later')

/** What the functions of one limit answered later. */
interface Answered {
  readonly key: unknown
  readonly cost: unknown
  readonly policy: unknown
}

/** The limits that were looked up, and the answers of those that answer later. */
export interface Answers<S> {
  readonly limits: readonly BoundLimit<S>[]
  readonly known: ReadonlyMap<BoundLimit<S>, Answered>
}

/** How long functions may take to answer. */
export interface LookupTime {
  readonly clock: Clock
  readonly deadlineMs: number
}

/** Turns a subject into the charges of every limit that applies. */
export class Charging<S> {
  readonly limits: readonly BoundLimit<S>[]
  /** The only limit of the short form, whose key is the subject itself. */
  readonly only: BoundLimit<S> | undefined
  /** Whether a limit may be decided without being enforced. */
  someShadow = false
  /** Whether some limit answers later. */
  someLate = false
  private readonly lookups: LookupTime | undefined
  private readonly someReplace: boolean
  private readonly someShare: boolean
  private readonly select: ((subject: S) => Iterable<string>) | undefined
  /** The limits by name; a name with layers has several. */
  private readonly byName: ReadonlyMap<string, readonly BoundLimit<S>[]>

  /** If `lookups` is given, functions of limits may answer later. */
  constructor(
    limits: readonly BoundLimit<S>[],
    layers: LayerNames,
    shortForm: boolean,
    select: ((subject: S) => Iterable<string>) | undefined,
    lookups: LookupTime | undefined,
  ) {
    this.limits = limits
    this.lookups = lookups
    for (const limit of limits) this.markLate(limit)
    this.select = select
    const byName = new Map(limits.map(limit => [limit.name, [limit]]))
    for (const [name, own] of layers)
      byName.set(
        name,
        limits.filter(limit => own.includes(limit.name)),
      )
    this.byName = byName
    this.someReplace = limits.some(limit => limit.replaces !== undefined)
    this.someShare = limits.some(limit => limit.bucket !== undefined)
    this.only = shortForm && limits.length === 1 ? limits[0] : undefined
  }

  private markLate(limit: BoundLimit<S>): void {
    for (const what of ['keyOf', 'cost', 'ruleFor'] as const) {
      if (!isAsyncFunction(limit[what])) continue
      if (this.lookups === undefined) {
        const name = what === 'keyOf' ? 'key' : what === 'ruleFor' ? 'policy' : what
        const advice = 'a limiter whose stores are all in process answers at once; give it a remote store'
        checkSyncFunction(`limit '${limit.name}' ${name}`, limit[what], advice)
      }
      limit.isLate = true
      this.someLate = true
    }
  }

  /** The charges of all limits that apply, in declared order. The names of limits that are off are added to `off`. */
  all(subject: S, callCost: number, off?: string[], answers?: Answers<S>): Charge[] {
    // The short form's limit always applies, at the cost of the call.
    if (this.only?.mode === 'enforce') return [this.one(this.only, subject, callCost)!]
    const limits = answers?.limits ?? this.applying(subject)
    const charges = new Array<Charge>(limits.length)
    let count = 0
    for (const limit of limits) {
      const mode = typeof limit.mode === 'function' ? checkMode(limit.mode(subject)) : limit.mode
      if (mode === 'off') {
        off?.push(limit.name)
        continue
      }
      const charge = this.one(limit, subject, callCost, mode === 'shadow' ? BESIDE : ENFORCED, answers, true)
      if (charge !== undefined) charges[count++] = charge
    }
    if (count < charges.length) charges.length = count
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

  /** A charge on one limit; undefined if it does not apply. If `ownCost` is true, the limit's own cost wins. */
  one(
    limit: BoundLimit<S>,
    subject: S,
    callCost: number,
    role = ENFORCED,
    answers?: Answers<S>,
    ownCost = false,
  ): Charge | undefined {
    const known = answers?.known.get(limit)
    const { cost = callCost, ruleFor } = limit
    const asked =
      typeof cost === 'function' && ownCost ? (known?.cost ?? this.atOnce(limit, 'cost', cost(subject))) : cost
    const charged = !ownCost ? callCost : checkCost(asked)
    const key = this.keyOf(limit, subject, known)
    if (key === undefined) return undefined
    if (typeof ruleFor !== 'function') return new Charge(limit, ruleFor, key, charged, role)
    const policy = known === undefined ? this.atOnce(limit, 'policy', ruleFor(subject)) : known.policy
    return new Charge(limit, limit.ruleOf(policy), key, charged, role)
  }

  /** Asks all functions that answer later at the same time, except those of limits that are off. */
  async lookUp(subject: S, limits: readonly BoundLimit<S>[] = this.applying(subject)): Promise<Answers<S>> {
    const late = limits.filter(limit => limit.isLate && limit.mode !== 'off')
    const asked = late.map(async (limit): Promise<Answered> => {
      const { keyOf, cost, ruleFor } = limit
      const [key, own, policy] = await Promise.all([
        keyOf?.(subject),
        typeof cost === 'function' ? cost(subject) : cost,
        typeof ruleFor === 'function' ? ruleFor(subject) : undefined,
      ])
      return { key, cost: own, policy }
    })
    const found = await this.inTime(Promise.all(asked), late)
    return { limits, known: new Map(found.map((one, i) => [late[i]!, one])) }
  }

  /** Runs at once, or when the functions that answer later have answered. */
  withAnswers<T>(
    subject: S,
    limits: readonly BoundLimit<S>[] | undefined,
    work: (answers?: Answers<S>) => Maybe<T>,
  ): Maybe<T> {
    if (!this.someLate) {
      try {
        return work()
      } catch (error) {
        if (error !== ANSWERS_LATER) throw error
      }
    }
    return this.lookUp(subject, limits).then(work)
  }

  private inTime<T>(asked: Promise<T>, late: readonly BoundLimit<S>[]): Promise<T> {
    const { clock, deadlineMs } = this.lookups!
    return new Promise((resolve, reject) => {
      const names = late.map(({ name }) => `'${name}'`).join(', ')
      const message = `policy, key or cost of ${names} gave no answer within ${deadlineMs} ms`
      const cancel = after(clock, deadlineMs, () => reject(new SluiceError('SLUICE_LOOKUP_TIMEOUT', message)))
      void asked.then(resolve, reject).finally(cancel)
    })
  }

  /**
   * Returns what a function answered if it is no promise. Otherwise the limit is asked later from now on, if the
   * limiter can wait.
   */
  private atOnce(limit: BoundLimit<S>, what: string, answer: unknown): unknown {
    if (typeof (answer as { then?: unknown } | null | undefined)?.then !== 'function') return answer
    // The function is asked again, so an error of this promise does not matter.
    Promise.resolve(answer).catch(() => {})
    if (this.lookups === undefined) {
      throw expected('SLUICE_BAD_OPTION', `limit '${limit.name}' ${what} to answer at once, as its store does`, answer)
    }
    limit.isLate = true
    this.someLate = true
    throw ANSWERS_LATER
  }

  /** The charges of the given limits that apply to the subject. */
  each(limits: readonly BoundLimit<S>[], subject: S, cost: number, answers?: Answers<S>): Charge[] {
    const charges = limits
      .map(limit => this.one(limit, subject, cost, ENFORCED, answers))
      .filter(charge => charge !== undefined)
    if (this.someShare) dropSharedBuckets(charges)
    return charges
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

  private keyOf(limit: BoundLimit<S>, subject: S, known: Answered | undefined): string | undefined {
    if ((subject as unknown) === '') throw expected('SLUICE_BAD_KEY', 'a subject that is not empty', subject)
    if (limit.keyOf !== undefined) {
      const key = known === undefined ? this.atOnce(limit, 'key', limit.keyOf(subject)) : known.key
      return key === undefined ? undefined : encodeKey(key as Key, limit.name)
    }
    if (limit === this.only) {
      if (typeof subject === 'string') return subject
      throw expected('SLUICE_BAD_KEY', 'a key as a string', subject)
    }
    if (typeof subject !== 'string') return ''
    throw expected('SLUICE_BAD_KEY', `limit '${limit.name}' to have a key, since the subject is a string`, subject)
  }
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
