import type { Decision } from '../../decision.ts'
import { type Warning, type WarningCode, warnOnce } from '../../warning.ts'
import { MissingKey } from '../request/key-text.ts'
import type { RequestFacts } from '../request/request-facts.ts'
import type { GuardLimit } from './guard-limit.ts'
import type { GuardEvent, GuardSettings } from './guard-options.ts'
import { UnknownPlan } from './plans.ts'

/** Calls the user's listeners. An error that a listener throws does not change the response. */
export class Reporter {
  private readonly limiter: string
  private readonly onEvent: GuardSettings['onEvent']
  private readonly onDecision: GuardSettings['onDecision']

  private readonly fallenBack = new Set<string>()
  private readonly onWarning = (warning: Warning) => this.event({ ...warning, limiter: this.limiter })

  constructor({ name = 'default', onEvent, onDecision }: GuardSettings) {
    this.limiter = name
    this.onEvent = onEvent
    this.onDecision = onDecision
  }

  event(event: GuardEvent): void {
    try {
      if (this.onEvent !== undefined) this.onEvent(event)
      else if (event.type === 'warning') warnOnce(event.code, event.message)
    } catch {
      // There is no other listener that the error could be reported to.
    }
  }

  /** Reports a warning once: to `onEvent`, or as a process warning if there is no `onEvent`. */
  warn(code: WarningCode, message: string): void {
    warnOnce(code, message, this.onEvent === undefined ? undefined : this.onWarning)
  }

  decision(decision: Decision, facts: RequestFacts): void {
    try {
      this.onDecision?.(decision, facts.view)
    } catch (error) {
      this.fallback('', 'onDecision', 'nothing', error)
    }
  }

  /** Reports that an option failed for a request, and the value that was used instead. */
  fallback(limit: string, option: string, used: string, error: unknown): void {
    const { limiter } = this
    if (error instanceof UnknownPlan) this.event({ type: 'unknown-plan', limiter, limit, plan: error.plan })
    else this.event({ type: 'fallback', limiter, limit, option, used, error })
    const what = limit === '' ? option : `${option} of limit '${limit}'`
    // Without `onEvent` each option gets one process warning. A guest without a key is no failure.
    if (this.onEvent !== undefined || error instanceof MissingKey || this.fallenBack.has(what)) return
    this.fallenBack.add(what)
    this.warn('SLUICE_FALLBACK', `${what} failed, so ${used} was used: ${error}`)
  }

  /** Warns of limits that do not count requests but name no unit. */
  warnOf({ headers }: GuardSettings, limits: Readonly<Record<string, GuardLimit>>): void {
    if (headers === false) return
    for (const [name, { unit, quiet, cost, settle }] of Object.entries(limits)) {
      const counts = (cost !== undefined && cost !== 0 && cost !== 1) || (settle !== undefined && settle !== 'bytes')
      if (!counts || unit !== undefined || settle === 'bytes' || quiet === true) continue
      this.warn('SLUICE_NO_UNIT', `limit '${name}' does not count requests, so callers misread its fields; set unit`)
    }
  }
}
