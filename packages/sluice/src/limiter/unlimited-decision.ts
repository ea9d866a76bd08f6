import type { Decision, DecisionJson } from '../decision.ts'

/** The answer where no limit applied: nothing was asked of the store, and nothing can be given back. */
export class UnlimitedDecision implements Decision {
  readonly allowed = true
  readonly reason = 'ok'
  readonly policy = ''
  readonly limit = Infinity
  readonly remaining = Infinity
  readonly at: number
  readonly resetAfterMs = 0
  readonly retryAfterMs = 0
  readonly degraded = false
  readonly limits = []

  constructor(at: number) {
    this.at = at
  }

  get resetAt(): number {
    return this.at
  }

  release(): void {}

  [Symbol.dispose](): void {}

  toJSON(): DecisionJson {
    return { ...this, resetAt: this.at, limit: null, remaining: null }
  }
}
