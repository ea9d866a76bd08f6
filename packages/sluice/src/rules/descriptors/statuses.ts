import type { Degraded, LimitState } from '../../decision.ts'
import { type DescriptorHit, hitIn } from './hit-batch.ts'
import type { Match } from './matching.ts'
import type { CurrentLimit } from './rate-limit.ts'
import { type Decided, quotasAreOver } from './taking.ts'

export type RlsCode = 'OK' | 'OVER_LIMIT'

/** The answer to one descriptor. */
export interface RlsStatus {
  readonly code: RlsCode
  /** Absent if no limit matched. */
  readonly currentLimit?: CurrentLimit
  readonly limitRemaining?: number
  readonly durationUntilResetMs?: number
  /** The rule that decided, by its composite key. */
  readonly rule?: string
  /** Whether it is over its limit, even if the code is OK because the limit is a shadow or another quota has room. */
  readonly over?: boolean
}

/** The answer to a request. */
export interface RlsResponse {
  readonly overall: RlsCode
  /** One for each descriptor, in order. */
  readonly statuses: readonly RlsStatus[]
  readonly degraded: Degraded
}

/** The outcome of the hits on one limit of the files. */
export interface CountedHits {
  /** The limit's place: its domain, then one part for each level. It never contains a value that only a request has. */
  readonly path: readonly string[]
  readonly hits: number
  readonly over: boolean
  readonly shadow: boolean
  readonly limit: number
  readonly remaining: number
}

const UINT32_MAX = 2 ** 32 - 1
const WORSE: readonly Degraded[] = [false, 'open', 'local', 'closed']

export function responseOf(matches: readonly Match[], decided: readonly Decided[]): RlsResponse {
  const statuses = matches.map(unlimitedStatus)
  const quotasOver = quotasAreOver(decided)
  let worst = 0
  for (const { batch, decision, states } of decided) {
    worst = Math.max(worst, WORSE.indexOf(decision.degraded))
    for (const state of states) {
      const hit = hitIn(batch, state.name)!
      const status = statusOf(hit, state, decision.at, quotasOver)
      for (const i of hit.descriptors) if (tellsMore(status, statuses[i]!)) statuses[i] = status
    }
  }
  const over = statuses.some(({ code }) => code === 'OVER_LIMIT')
  return { overall: over ? 'OVER_LIMIT' : 'OK', statuses, degraded: WORSE[worst]! }
}

/** Reports each limit that was asked, except overrides, which requests bring along. */
export function tellCounted(decided: readonly Decided[], tell: (counted: CountedHits) => void): void {
  for (const { batch, states } of decided) {
    for (const { name, allowed, limit, remaining } of states) {
      const { path, cost, effect } = hitIn(batch, name)!
      if (path !== undefined) tell({ path, hits: cost, over: !allowed, shadow: effect === 'shadow', limit, remaining })
    }
  }
}

const NO_LIMIT: RlsStatus = Object.freeze({ code: 'OK' })
const UNLIMITED: RlsStatus = Object.freeze({ code: 'OK', limitRemaining: UINT32_MAX })

/** The status of a descriptor that no limit counts. */
function unlimitedStatus({ limits }: Match): RlsStatus {
  return limits.some(({ policy }) => policy === undefined) ? UNLIMITED : NO_LIMIT
}

function statusOf(hit: DescriptorHit, state: LimitState, at: number, quotasOver: boolean): RlsStatus {
  const over = !state.allowed
  const refused = over && (hit.effect === 'refuses' || (hit.effect === 'quota' && quotasOver))
  return {
    code: refused ? 'OVER_LIMIT' : 'OK',
    currentLimit: hit.current,
    limitRemaining: over && !refused ? 0 : Math.min(state.remaining, UINT32_MAX),
    durationUntilResetMs: untilResetMs(hit, state, at),
    rule: hit.rule,
    over,
  }
}

/**
 * When the limit resets. If refused: when the same hits pass. Otherwise the end of the window, even if nothing is
 * counted in it.
 */
function untilResetMs({ policy }: DescriptorHit, state: LimitState, at: number): number {
  if (!state.allowed && state.retryAfterMs < Infinity) return state.retryAfterMs
  if (policy.kind !== 'fixedWindow' || policy.align !== 'epoch') return state.resetAfterMs
  return policy.windowMs - (at % policy.windowMs)
}

/** Of several limits on one descriptor, the one that refuses longest; if none refuses, the one with the least left. */
function tellsMore(a: RlsStatus, b: RlsStatus): boolean {
  if (b.currentLimit === undefined) return true
  if (a.code !== b.code) return a.code === 'OVER_LIMIT'
  if (a.code === 'OVER_LIMIT') return a.durationUntilResetMs! > b.durationUntilResetMs!
  return a.limitRemaining! < b.limitRemaining!
}
