import { SluiceError } from 'sluice'
import type { Attributes, RulesLimiter } from 'sluice/rules'
import type { CheckRequest } from './decider.ts'
import { type Listed, SubjectLists } from './subject-lists.ts'

/** The properties of a check's body that are not attributes. */
const BESIDE = ['cost', 'ttl_ms']

type AnyLimiter = RulesLimiter<'sync' | 'async'>

/** The current rules in Sluice's own language. A reload replaces them. */
export class CurrentRules {
  private limiter: AnyLimiter | undefined
  private lists = new SubjectLists({ allow: [], deny: [] })

  replace(limiter: AnyLimiter | undefined): void {
    this.lists = new SubjectLists(limiter?.rules ?? { allow: [], deny: [] })
    this.limiter = limiter
  }

  /** The verdict of the lists on a subject, which comes before any limit. */
  listed(subject: Attributes): Listed | undefined {
    return this.lists.find(subject)
  }

  /** Undefined if the service has only rules for Envoy. */
  get ifAny(): AnyLimiter | undefined {
    return this.limiter
  }

  /** Checks a request: it may bring only attributes that the rules name. */
  for({ subject, isLenient = false }: Pick<CheckRequest, 'subject' | 'isLenient'>): AnyLimiter {
    const { loaded } = this
    if (!isLenient) loaded.checkAttributes(subject, BESIDE)
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
