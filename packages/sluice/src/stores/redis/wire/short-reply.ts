import { describe } from '../../../algorithms/bucket.ts'
import type { Charge } from '../../charge.ts'
import type { Question } from '../../store.ts'
import type { PlainMessage } from './plain-message.ts'
import type { ScriptReply } from './script.ts'

/** Does a reply say no more than that all decisions of a plain call passed? See lua/plain.lua. */
export function isShort(reply: ScriptReply, { message }: PlainMessage, limits: number): boolean {
  return reply.length === 1 + message.keys.length + limits
}

export function readShort(
  reply: ScriptReply,
  { message, places }: PlainMessage,
  asked: readonly Question[],
  onLate: () => void,
): void {
  const at = reply.at(0)
  const ticksFrom = 1 + message.keys.length
  let charge = 0
  for (let decision = 0; decision < asked.length; decision++) {
    const item = asked[decision]!
    let isLate = false
    for (let i = 0; i < item.charges.length; i++) {
      const one = item.charges[i]!
      const key = places === undefined ? i * asked.length + decision : places.keys[charge]!
      const later = places === undefined ? 0 : places.later[charge]! * one.rule.perRequest
      if (one.fault !== undefined) isLate = true
      else pass(one, at, reply.at(1 + key) - later, reply.at(ticksFrom + i))
      charge++
    }
    if (isLate) onLate()
    item.done()
  }
}

function pass(charge: Charge, at: number, used: number, ticks: number): void {
  const { rule } = charge
  charge.at = at
  charge.allowed = true
  charge.retryAt = 0
  charge.receipt = 1
  charge.used = used
  if (rule.kind === 'bucket') describe(used, rule, at, charge)
  else charge.resetAt = at + ticks
}
