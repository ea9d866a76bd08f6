import type { FixedRule } from '../../../algorithms/fixed-window.ts'
import type { Rule } from '../../../algorithms/rule.ts'
import { calendarWindow, isCalendar } from '../../../calendar.ts'
import { TICKS_PER_MS } from '../../../clock.ts'
import { stableHash } from '../../../hash.ts'
import type { Charge } from '../../charge.ts'
import type { BlockRule } from '../../limit.ts'

const texts = new WeakMap<Rule, { text: string; from: number; until: number }>()

/**
 * What the scripts must know of a limit, as JSON. It is made once for each rule, and again when a calendar window is
 * over.
 */
export function specText(rule: Rule, block: BlockRule | undefined, now: number): string {
  if (block !== undefined) return textOf(rule, block, now)
  let known = texts.get(rule)
  if (known === undefined || now < known.from || now >= known.until) {
    known = { text: textOf(rule, undefined, now), from: now, until: specEnd(rule, now) }
    texts.set(rule, known)
  }
  return known.text
}

function textOf(rule: Rule, block: BlockRule | undefined, now: number): string {
  return JSON.stringify({
    kind: rule.kind,
    limit: rule.limit,
    ...numbersOf(rule, now),
    ...(block && { block }),
  })
}

function numbersOf(rule: Rule, now: number): object {
  switch (rule.kind) {
    case 'bucket':
      return { perRequest: rule.perRequest, perTick: rule.perTick, ...(rule.queue && { queue: true }) }
    case 'fixed': {
      const { align } = rule.policy
      const ends = isCalendar(align) ? { ends: calendarEnds(rule, now) } : {}
      return { windowTicks: rule.windowTicks, align, ...ends }
    }
    case 'sliding':
      return { subTicks: rule.subTicks, buckets: rule.buckets }
    case 'log':
      return { windowTicks: rule.windowTicks }
    case 'slots':
      return { ttlTicks: rule.ttlTicks }
  }
}

/**
 * The boundaries of a calendar around now: when the last window began, when this one did, and when this and the next
 * one end. The script chooses by its own clock, so this process's clock may be wrong by up to a window.
 */
function calendarEnds(rule: FixedRule, now: number): number[] {
  const { align, timeZone = 'UTC' } = rule.policy
  const windowAt = (ms: number) => calendarWindow(align as 'day', timeZone, ms)
  const current = windowAt(now / TICKS_PER_MS)
  const before = windowAt(current.start - 1)
  const next = windowAt(current.end)
  const after = windowAt(next.end)
  return [before.start, current.start, current.end, next.end, after.end].map(ms => ms * TICKS_PER_MS)
}

/** Until when the text of a rule may be reused, because a calendar's boundaries move on. */
function specEnd(rule: Rule, now: number): number {
  return rule.kind === 'fixed' && rule.windowTicks === 0 ? rule.endAfter(now, 0) : Infinity
}

/** Where the windows of this key start, if they start by the key. */
export function phaseOf(charge: Charge): number {
  const { rule } = charge
  return rule.kind === 'fixed' && rule.policy.align === 'key' ? stableHash(charge.key, rule.windowTicks) : 0
}

/** The end of the calendar window that a charge was counted in; 0 for all other kinds. */
export function calendarEndOf(rule: Rule, at: number): number {
  return rule.kind === 'fixed' && rule.windowTicks === 0 ? rule.endAfter(at, 0) : 0
}
