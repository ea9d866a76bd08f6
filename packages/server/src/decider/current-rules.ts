import { SluiceError } from 'sluice'
import type { RulesLimiter } from 'sluice/rules'
import type { CheckRequest } from './decider.ts'

type AnyLimiter = RulesLimiter<'sync' | 'async'>

/** Sluice's own rules as they are now: a reload replaces them. */
export class CurrentRules {
  private limiter: AnyLimiter | undefined

  replace(limiter: AnyLimiter | undefined): void {
    this.limiter = limiter
  }

  /** Undefined where only rules for Envoy are served. */
  get ifAny(): AnyLimiter | undefined {
    return this.limiter
  }

  /** For a request: what it brings along must be what the rules name. */
  for({ subject, isLenient = false }: Pick<CheckRequest, 'subject' | 'isLenient'>): AnyLimiter {
    const { loaded } = this
    if (!isLenient) loaded.checkAttributes(subject)
    return loaded
  }

  get loaded(): AnyLimiter {
    if (this.limiter !== undefined) return this.limiter
    throw new SluiceError(
      'SLUICE_NOT_SUPPORTED',
      'no rules file: start the service with one, `sluice serve rules.yaml`',
    )
  }
}
