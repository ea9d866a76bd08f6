import { drained } from '../../algorithms/bucket.ts'
import { Charge, ENFORCED } from '../charge.ts'
import type { BlockRule } from '../limit.ts'

/** A question that the store has answered. The charges have the store's times, all other times are local. */
export interface AnsweredQuestion {
  readonly charges: readonly Charge[]
  /** When it was sent, or a little earlier. */
  readonly sentAt: number
  /** How many changes this process had made when it was sent. */
  readonly changes: number
}

/**
 * A refusal that holds for a while. It is repeated as the store would answer now if nobody had charged the limit since:
 * the waiting times are shorter by the time that has passed.
 *
 * Two numbers may be out of date. It does not know how much of a window's count has expired since, so `used` may be too
 * high for a cost above 1. Limits that did not bind are shown as they were when the store answered.
 */
export class CachedRefusal {
  readonly name: string
  /** Copies of what the store answered, since callers may change theirs. */
  readonly charges: readonly Charge[]
  readonly changes: number
  /** The key whose limit frees last. */
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

  /** It ends when its time has come, or when the key that frees last has been charged. */
  holds(now: number): boolean {
    return now < this.endsAt && this.key.turns === this.turns
  }

  repeat(charges: readonly Charge[], now: number): void {
    for (let i = 0; i < charges.length; i++) repeat(charges[i]!, this.charges[i]!, now - this.heardAt)
  }
}

/** What this process has seen of a key since the store refused it. */
export class RefusedKey {
  /** How many refusals depend on the key, and the latest of them. */
  refusals = 0
  latest: CachedRefusal | undefined
  /** Counts the changes to the answer for this key. A refusal from before the last change no longer holds. */
  turns = 0
  /** A block lasts until this tick or longer, if its start was seen here. */
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

  /** One refusal fewer depends on the key. */
  letGo(): void {
    if (--this.refusals === 0) this.others.delete(this.key)
  }

  /** Notes an answer about the key: it was charged, blocked, or moved to another rate, which changes its level too. */
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

/** The refused enforced charge that frees last. The whole call is refused until then. At least one must be refused. */
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

/** Whether the limit itself refused. Such a refusal starts a block if the intent says so. */
export function isStrike({ allowed, blocked, limit, rule, cost }: Charge): boolean {
  return limit.block !== undefined && !allowed && !blocked && cost <= rule.limit
}

/**
 * Calls of one name ask the same question: the same limits and policies, keys, costs and roles. The policy is part of
 * the name, because the shape of a rule says how state is kept but not how much is allowed.
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

/** A cheap check that two calls have one name. It mostly succeeds, as the same limiter often asks the same again. */
export function isAlike(some: readonly Charge[], others: readonly Charge[]): boolean {
  if (some.length !== others.length) return false
  for (let i = 0; i < some.length; i++) {
    const [a, b] = [some[i]!, others[i]!]
    if (a.key !== b.key || a.cost !== b.cost || a.limit !== b.limit || a.rule !== b.rule || a.role !== b.role)
      return false
  }
  return true
}
