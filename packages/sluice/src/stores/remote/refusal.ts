import { drained } from '../../algorithms/bucket.ts'
import { Charge, ENFORCED } from '../charge.ts'
import type { BlockRule } from '../limit.ts'

/** A call that the store has answered. Times other than those of the charges are local. */
export interface AnsweredQuestion {
  readonly charges: readonly Charge[]
  /** Or a little earlier. */
  readonly sentAt: number
  /** How many changes had been made here when it was sent. */
  readonly changes: number
}

/**
 * A refusal that holds for a while: time passes, and what is counted only falls as the store has foreseen. It is told
 * again as the store would answer it, moved on by the time that has passed, if nobody else has charged the limit.
 *
 * Two things it cannot know. Of a window it knows what was counted, not how much of that has left since: for a cost
 * above 1, `used` may be too high. And of limits that did not bind it knows no more than what they were when asked.
 */
export class CachedRefusal {
  readonly name: string
  /** As the store has answered them: those who asked may do with theirs what they like. */
  readonly charges: readonly Charge[]
  readonly changes: number
  /** The one that frees last. */
  readonly key: RefusedKey
  /** Neighbours by age. */
  older: CachedRefusal | undefined
  newer: CachedRefusal | undefined
  private readonly heardAt: number
  private readonly endsAt: number
  private readonly turns: number

  constructor(name: string, question: AnsweredQuestion, heardAt: number, ticks: number, key: RefusedKey) {
    this.name = name
    this.charges = question.charges.map(copyOf)
    this.changes = question.changes
    this.key = key
    this.older = undefined
    this.newer = undefined
    this.heardAt = heardAt
    this.endsAt = question.sentAt + ticks
    this.turns = key.turns
  }

  /** Unless its time has come, or the key that frees last was charged since. */
  holds(now: number): boolean {
    return now < this.endsAt && this.key.turns === this.turns
  }

  repeat(charges: readonly Charge[], now: number): void {
    for (let i = 0; i < charges.length; i++) repeat(charges[i]!, this.charges[i]!, now - this.heardAt)
  }
}

/** What was seen to happen to a key since it was refused. */
export class RefusedKey {
  /** How many refusals rest on it, and the latest of them. */
  refusals = 0
  latest: CachedRefusal | undefined
  /** How often a refusal would have been another: whatever was said before does not hold any more. */
  turns = 0
  /** The tick up to which a block lasts at least, if it was seen to start. */
  blockedUntil = 0
  private readonly key: string
  private readonly others: Map<string, RefusedKey>
  private shape: string

  constructor(charge: Charge, others: Map<string, RefusedKey>) {
    this.latest = undefined
    this.key = charge.key
    this.others = others
    this.shape = charge.rule.shape
    this.observe(charge, true)
  }

  /** One refusal less rests on it. */
  letGo(): void {
    if (--this.refusals === 0) this.others.delete(this.key)
  }

  /** An answer about the key: it was charged, blocked, or brought to another rate, which changes its level too. */
  observe(charge: Charge, strikes: boolean): void {
    const { at, limit, rule } = charge
    const isStruck = strikes && isStrike(charge)
    const isConverted = rule.kind === 'bucket' && rule.shape !== this.shape
    if (charge.taken || isStruck || isConverted) this.turns++
    if (isStruck) this.blockedUntil = at + limit.block!.first
    if (isConverted) this.shape = rule.shape
  }
}

function copyOf(charge: Charge): Charge {
  const copy = new Charge(charge.limit, charge.rule, charge.key, charge.cost, charge.role)
  copy.allowed = charge.allowed
  copy.at = charge.at
  copy.used = charge.used
  copy.resetAt = charge.resetAt
  copy.retryAt = charge.retryAt
  if (charge.blocked || isStrike(charge)) copy.blocked = true
  return copy
}

function repeat(charge: Charge, said: Charge, elapsed: number): void {
  const at = said.at + elapsed
  const isOver = !said.allowed && said.retryAt <= at // one of several refusals, and not the last
  charge.allowed = said.allowed || isOver
  charge.at = at
  charge.used = said.resetAt <= at ? 0 : usedAt(at, said, isOver)
  charge.resetAt = Math.max(said.resetAt, at)
  charge.retryAt = charge.allowed ? 0 : said.retryAt
  if (said.blocked && !isOver) charge.blocked = true
  charge.cached = true
}

function usedAt(at: number, said: Charge, isOver: boolean): number {
  const { rule, cost, allowed } = said
  const used = rule.kind === 'bucket' && !allowed ? drained(said.used, said.at, rule, at) : said.used
  if (isOver) return Math.min(used, (rule.limit - cost) * rule.perRequest)
  return said.blocked ? Math.max(used, rule.limit * rule.perRequest) : used
}

/** Of the enforced charges that are refused, at least one, the one that frees last: until then the call as a whole is. */
export function lastToFree(charges: readonly Charge[]): Charge {
  let last: Charge | undefined
  for (const charge of charges) {
    if (charge.allowed || charge.role !== ENFORCED) continue
    if (last === undefined || ticksLeft(charge) > ticksLeft(last)) last = charge
  }
  return last!
}

export function ticksLeft(charge: Charge): number {
  return charge.retryAt - charge.at
}

/** A refusal by the limit itself, which starts its block where the intent says so. */
export function isStrike({ allowed, blocked, limit, rule, cost }: Charge): boolean {
  return limit.block !== undefined && !allowed && !blocked && cost <= rule.limit
}

/**
 * Two calls with one name ask the same: the same limits under the same policies, for the same keys, costs and roles.
 * A shape alone says how state is kept, not how much is allowed.
 */
export function questionName(charges: readonly Charge[]): string {
  let name = ''
  for (const { limit, rule, key, cost, role } of charges) {
    const { path } = limit.space
    const policy = `${rule.shape}|${rule.limit}|${blockName(limit.block)}`
    name += `${policy}|${cost}|${role}|${path.length}|${key.length}|${path}${key}`
  }
  return name
}

function blockName(block: BlockRule | undefined): string {
  return block === undefined ? '' : `${block.first}/${block.factor}/${block.max}`
}

/** Surely of one name: what mostly comes next is the same again, made by the same limiter. */
export function isAlike(some: readonly Charge[], others: readonly Charge[]): boolean {
  if (some.length !== others.length) return false
  for (let i = 0; i < some.length; i++) {
    const [a, b] = [some[i]!, others[i]!]
    if (a.key !== b.key || a.cost !== b.cost || a.limit !== b.limit || a.rule !== b.rule || a.role !== b.role)
      return false
  }
  return true
}
