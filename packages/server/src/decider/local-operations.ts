import type { LimitMode, ShadowState } from 'sluice'
import type { Attributes } from 'sluice/rules'
import type { Awaitable } from '../awaitable.ts'
import type { CurrentRules } from './current-rules.ts'
import type { Block, CheckRequest, ModeOfLimit, OperatorCommands } from './decider.ts'

export class LocalOperations implements OperatorCommands {
  private readonly rules: CurrentRules

  constructor(rules: CurrentRules) {
    this.rules = rules
  }

  refund(request: CheckRequest): Awaitable<void> {
    const { subject, cost } = request
    return this.rules.for(request).limiter.refund(subject, { cost })
  }

  reset(subject: Attributes, limits: readonly string[] | undefined): Awaitable<void> {
    return this.rules.for({ subject }).limiter.reset(subject, limits === undefined ? {} : { limits })
  }

  block(subject: Attributes, options: Block): Awaitable<void> {
    return this.rules.for({ subject }).limiter.block(subject, options)
  }

  setMode(limit: string, mode: LimitMode): void {
    this.rules.loaded.setMode(limit, mode)
  }

  modes(): readonly ModeOfLimit[] {
    return [...this.rules.loaded.modes].map(([limit, mode]) => ({ limit, mode }))
  }

  shadows(): readonly ShadowState[] {
    return this.rules.ifAny?.limiter.shadows() ?? []
  }
}
