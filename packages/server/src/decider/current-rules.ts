import { SluiceError } from 'sluice'
import type { Attributes, RulesLimiter } from 'sluice/rules'
import type { CheckRequest } from './decider.ts'
import { type Listed, SubjectLists } from './subject-lists.ts'

type AnyLimiter = RulesLimiter<'sync' | 'async'>

/** Sluice's own rules as they are now: a reload replaces them. */
export class CurrentRules {
  private limiter: AnyLimiter | undefined
  private lists = new SubjectLists({ allow: [], deny: [] })

  replace(limiter: AnyLimiter | undefined): void {
    this.lists = new SubjectLists(limiter?.rules ?? { allow: [], deny: [] })
    this.limiter = limiter
  }

  /** What the lists say of a subject, before any limit is asked. */
  listed(subject: Attributes): Listed | undefined {
    return this.lists.find(subject)
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
