import type { DecisionJson } from 'sluice'

/**
 * The same text as `JSON.stringify`, in half the time. Decisions are most of what this service writes, and the engine is
 * slow at writing their times, which have fractions.
 */
export function textOf(decision: DecisionJson): string {
  const { allowed, reason, policy, limit, remaining, at, resetAt, resetAfterMs, retryAfterMs, degraded } = decision
  let limits = ''
  for (const state of decision.limits) limits += limits === '' ? stateText(state) : `,${stateText(state)}`
  return (
    `{"allowed":${allowed},"reason":"${reason}","policy":${JSON.stringify(policy)},"limit":${limit},` +
    `"remaining":${remaining},"at":${time(at)},"resetAt":${time(resetAt)},"resetAfterMs":${time(resetAfterMs)},` +
    `"retryAfterMs":${time(retryAfterMs)},"degraded":${degraded === false ? degraded : `"${degraded}"`},` +
    `"limits":[${limits}]}`
  )
}

function stateText(state: DecisionJson['limits'][number]): string {
  const { name, allowed, limit, remaining, resetAt, resetAfterMs, retryAfterMs, shadow, cached } = state
  return (
    `{"name":${JSON.stringify(name)},"allowed":${allowed},"limit":${limit},"remaining":${remaining},` +
    `"resetAt":${time(resetAt)},"resetAfterMs":${time(resetAfterMs)},"retryAfterMs":${time(retryAfterMs)},` +
    `"shadow":${shadow},"cached":${cached}}`
  )
}

/** For every number below 1,000: its three digits, and the same as a fraction without trailing zeros. */
const DIGITS = Array.from({ length: 1000 }, (_, i) => String(i).padStart(3, '0'))
const FRACTIONS = DIGITS.map((digits, i) => (i === 0 ? '' : `.${digits.replace(/0+$/, '')}`))

/** Milliseconds in whole microseconds. The digits before and after the point come from tables. */
function time(ms: number | null): string {
  if (ms === null || ms === 0) return `${ms}`
  const micros = Math.round(ms * 1000)
  const seconds = Math.floor(micros / 1_000_000)
  const isUsual = micros / 1000 === ms && micros > 0 && seconds < 2 ** 31
  if (!isUsual) return JSON.stringify(ms)
  const rest = micros - seconds * 1_000_000
  const millis = Math.floor(rest / 1000)
  const whole = seconds === 0 ? `${millis}` : `${seconds}${DIGITS[millis]}`
  return `${whole}${FRACTIONS[rest - millis * 1000]}`
}
