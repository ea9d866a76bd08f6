import type { Rule } from '../../../algorithms/rule.ts'
import { TICKS_PER_MS } from '../../../clock.ts'
import {
  bucketData,
  fixedData,
  heldCosts,
  type KeyInspection,
  type LimitData,
  logData,
  slidingData,
  slotsData,
} from '../../inspection.ts'
import type { ScriptReply } from './script.ts'

const HOLDS_FROM = 5

/** Reads the reply of inspect.lua. */
export function inspectionOf(rule: Rule, reply: ScriptReply): KeyInspection {
  const [now, used, blockedUntil, bytes, holds] = [0, 1, 2, 3, 4].map(n => reply.at(n)) as [
    number,
    number,
    number,
    number,
    number,
  ]
  const stateFrom = HOLDS_FROM + 2 * holds
  const numbers = Array.from({ length: reply.length - HOLDS_FROM }, (_, n) => reply.at(HOLDS_FROM + n))
  return {
    at: now / TICKS_PER_MS,
    used,
    blockedUntil: blockedUntil === 0 ? undefined : blockedUntil / TICKS_PER_MS,
    holds: heldCosts(pairs(numbers.slice(0, stateFrom - HOLDS_FROM))),
    bytes,
    state: dataOf(rule, numbers.slice(stateFrom - HOLDS_FROM), now),
  }
}

function dataOf(rule: Rule, numbers: readonly number[], now: number): LimitData {
  switch (rule.kind) {
    case 'bucket':
      return bucketData(numbers[0]!, rule, now)
    case 'fixed':
      return fixedData(numbers[0]!, numbers[1]!, rule)
    case 'sliding':
      return slidingData([...numbers], 0, rule, now)
    case 'log':
      return logData(numbers)
    case 'slots':
      return slotsData(pairs(numbers))
  }
}

function pairs(numbers: readonly number[]): { cost: number; expiry: number }[] {
  return Array.from({ length: numbers.length / 2 }, (_, n) => ({ cost: numbers[2 * n]!, expiry: numbers[2 * n + 1]! }))
}
