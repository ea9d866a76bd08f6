import { calendarWindow } from '../../calendar.ts'
import type { FixedWindowPolicy } from '../../policy.ts'
import { type Model, most, ticksOf } from './model.ts'

interface Window {
  readonly start: bigint
  readonly end: bigint
}

/** A count for one half-open window [start, end), which a charge opens. Outside of the window the count is 0. */
export function fixedWindowModel(policy: FixedWindowPolicy, phase: bigint): Model {
  const limit = BigInt(policy.limit)
  const none: Window = { start: 0n, end: 0n }
  let window = none
  let count = 0n

  const countNow = (at: bigint): bigint => (at < window.end ? count : 0n)

  return {
    passes: (at, cost) => countNow(at) + cost <= limit,
    charge(at, cost) {
      // A cost of 0 takes nothing, so it must not start a window of `align: 'first'`.
      if (cost === 0n) return
      if (at >= window.end) {
        window = windowAt(policy, phase, at)
        count = 0n
      }
      count += cost
    },
    wholeAt: () => (count > 0n ? window.end : 0n),
    refund(at, cost, chargedAt) {
      const stillTheSame = chargedAt >= window.start && at < window.end
      if (stillTheSame) count = most(0n, count - cost)
    },
    // The window stays open even at a count of 0: with 'first', the next window can start only after its end.
    credit(at, cost) {
      if (at < window.end) count = most(0n, count - cost)
    },
    reset() {
      window = none
      count = 0n
    },
  }
}

function windowAt(policy: FixedWindowPolicy, phase: bigint, at: bigint): Window {
  const length = ticksOf(policy.windowMs)
  switch (policy.align) {
    case 'epoch':
      return aligned(at, length, 0n)
    case 'key':
      return aligned(at, length, phase)
    case 'first':
      return { start: at, end: at + length }
    default: {
      // Calendar windows begin and end on whole milliseconds, so the fraction of `at` cannot matter.
      const { start, end } = calendarWindow(policy.align, policy.timeZone ?? 'UTC', Number(at / 1000n))
      return { start: ticksOf(start), end: ticksOf(end) }
    }
  }
}

/** The window n·length + phase ≤ at < (n+1)·length + phase; n is −1 for the first moments after the epoch. */
function aligned(at: bigint, length: bigint, phase: bigint): Window {
  const since = (at - phase) % length
  const start = at - (since < 0n ? since + length : since)
  return { start, end: start + length }
}
