import type { LimitMode, ShadowState } from 'sluice'
import type { Attributes } from 'sluice/rules'
import type { Awaitable } from '../awaitable.ts'
import type { CurrentRules } from './current-rules.ts'
import type { Block, CheckRequest, Operations } from './decider.ts'

export class LocalOperations implements Operations {
  private readonly rules: CurrentRules

  constructor(rules: CurrentRules) {
    this.rules = rules
  }

  refund({ subject, cost }: CheckRequest): Awaitable<void> {
    return this.rules.loaded.limiter.refund(subject, { cost })
  }

  reset(subject: Attributes, limits: readonly string[] | undefined): Awaitable<void> {
    return this.rules.loaded.limiter.reset(subject, limits === undefined ? {} : { limits })
  }

  block(subject: Attributes, options: Block): Awaitable<void> {
    return this.rules.loaded.limiter.block(subject, options)
  }

  setMode(limit: string, mode: LimitMode): void {
    this.rules.loaded.setMode(limit, mode)
  }

  shadows(): readonly ShadowState[] {
    return this.rules.ifAny?.limiter.shadows() ?? []
  }
}
