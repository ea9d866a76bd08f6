import type { Change } from '../../store.ts'
import { holdOf, type RedisHold } from './hold.ts'
import { calendarEndOf } from './spec.ts'

const UNKNOWN = -1

/** The answer to a change that has nothing to change; undefined if the server must be asked. */
export function overAlready(change: Change): number | undefined {
  const { charge, type } = change
  const hold = holdOf(charge)
  if (type === 'refund' || type === 'unbook') {
    if (!charge.taken) return 0
  }
  const byId = type === 'release' || type === 'renew'
  if (byId && hold === undefined) return 0
  return byId || type === 'settle' ? hold?.ended : undefined
}

/** The arguments for lua/full/changes.lua: the word, the cost, and what else the change needs. */
export function wordsOf(change: Change): (string | number)[] {
  const { charge } = change
  const hold = holdOf(charge)
  switch (change.type) {
    case 'refund': {
      const resets = charge.receipt - 1
      charge.receipt = 0
      if (hold !== undefined) return charge.rule.kind === 'slots' ? ['release', 0, hold.id] : settling(hold, 0)
      // A booking counts from its start.
      const at = Math.max(charge.at, charge.retryAt)
      return ['refund', charge.cost, at, resets, calendarEndOf(charge.rule, at)]
    }
    case 'credit':
      return ['credit', charge.cost]
    case 'penalize':
      return ['penalize', charge.cost]
    case 'set':
      return ['set', change.used]
    case 'unblock':
      return ['unblock', 0]
    case 'unbook':
      charge.receipt = 0
      return ['credit', charge.cost]
    case 'release':
    case 'renew':
      return [change.type, 0, hold!.id]
    case 'settle':
      return settling(hold!, change.actual)
    case 'reset':
      return ['reset', 0]
    case 'block':
      return ['block', 0, change.ticks]
  }
}

function settling({ id, cost, expiry, resets }: RedisHold, actual: number): (string | number)[] {
  return ['settle', cost, id, actual, expiry, resets]
}

/** What the answer means. A reservation that is gone has expired, or a reset forgot it. */
export function concluded(change: Change, amount: number, now: number): number {
  const hold = holdOf(change.charge)
  const ends = change.type === 'settle' || change.type === 'release' || change.type === 'refund'
  if (hold === undefined || !ends) return amount
  if (change.charge.rule.kind === 'slots') {
    hold.ended = 0 // a slot is released once: later calls answer 0
    return amount
  }
  hold.ended ??= amount !== UNKNOWN ? amount : now >= hold.expiry ? hold.cost : 0
  return hold.ended
}
