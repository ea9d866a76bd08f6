import { StoreUnavailable } from '../../../errors.ts'
import { type Charge, isTaken, refusedOf } from '../../charge.ts'
import type { Intent, Question } from '../../store.ts'
import type { ScriptReply } from './script.ts'

/** Stands in a reply for a key whose value is foreign: Sluice did not write it. */
export const FOREIGN = -3
const NEVER_BLOCKED = -2
const RESETS = 1
const HELD = 2
const TOO_MANY_HOLDS = 3

/** Details that a reply gives of a few charges, by their index. */
export interface RareFacts {
  readonly resets: Map<number, number>
  readonly held: Set<number>
  readonly tooManyHolds: Set<number>
}

export function rareFacts(reply: ScriptReply, from: number): RareFacts | undefined {
  if (reply.length <= from) return undefined
  const facts: RareFacts = { resets: new Map(), held: new Set(), tooManyHolds: new Set() }
  for (let i = from; i < reply.length; i += 3) {
    const [charge, what, value] = [reply.at(i), reply.at(i + 1), reply.at(i + 2)]
    if (what === RESETS) facts.resets.set(charge, value)
    if (what === HELD) facts.held.add(charge)
    if (what === TOO_MANY_HOLDS) facts.tooManyHolds.add(charge)
  }
  return facts
}

/**
 * Reads the verdicts of one decision, from index `place` on. Returns true if no caller waited for one any more. `ids`
 * are the ids of the slots and reservations it may have taken.
 */
export function readVerdicts(
  { charges, intent }: Question,
  ids: readonly number[] | undefined,
  reply: ScriptReply,
  place: number,
  rare: RareFacts | undefined,
): boolean {
  const at = reply.at(0)
  let isLate = false
  for (let i = 0; i < charges.length; i++) {
    const charge = charges[i]!
    if (charge.fault === undefined) readVerdict(charge, intent, at, reply, 1 + 3 * (place + i))
    else isLate = true
  }
  if (intent.take || rare !== undefined) noteTaken(charges, intent, ids, at, place, rare)
  return isLate
}

function readVerdict(charge: Charge, intent: Intent, at: number, reply: ScriptReply, from: number): void {
  const code = reply.at(from + 2)
  if (code === FOREIGN) {
    const where = `a value that Sluice has not written stands at a key of '${charge.limit.space.path.slice(1)}'`
    charge.fault = new StoreUnavailable('SLUICE_FOREIGN_VALUE', where)
    return
  }
  charge.at = at
  charge.used = reply.at(from)
  charge.resetAt = at + reply.at(from + 1)
  if (code < 0) {
    charge.allowed = false
    charge.retryAt = Infinity
    if (code === NEVER_BLOCKED) charge.blocked = true
    return
  }
  const flags = code % 4
  charge.allowed = flags % 2 === 1
  charge.retryAt = charge.allowed && intent.bookTicks < 0 ? 0 : at + (code - flags) / 4
  if (flags >= 2) charge.blocked = true
}

/** Notes what was taken, with what a refund will need. */
function noteTaken(
  charges: readonly Charge[],
  intent: Intent,
  ids: readonly number[] | undefined,
  at: number,
  place: number,
  rare: RareFacts | undefined,
): void {
  const refused = charges.length === 1 ? 0 : refusedOf(charges)
  for (let i = 0; i < charges.length; i++) {
    const charge = charges[i]!
    if (charge.fault !== undefined) continue
    if (charge.rule.kind === 'slots' || rare?.held.has(place + i)) charge.tentative = true
    if (rare?.tooManyHolds.has(place + i)) charge.tooManyHolds = true
    const passes = charges.length === 1 ? charge.allowed : isTaken(charge, charges, refused)
    if (!intent.take || !passes || (charge.cost === 0 && intent.holdTicks === 0)) continue
    const resets = rare?.resets.get(place + i) ?? 0
    charge.receipt = 1 + resets
    const id = ids === undefined ? 0 : ids[i]!
    if (id === 0) continue
    const ticks = charge.rule.kind === 'slots' ? charge.rule.ttlTicks : intent.holdTicks
    charge.hold = { id, cost: charge.cost, expiry: at + ticks, resets, ended: undefined }
  }
}
