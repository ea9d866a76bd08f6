import { addressRanges } from '../address/cidr.ts'
import type { RequestFacts } from '../request/request-facts.ts'
import { yesOrNo } from './answered.ts'
import type { GuardSettings } from './guard-options.ts'

/** Who is let through or turned away before any limit is asked. */
export class AccessLists {
  /** Nothing is on any of them. */
  readonly isEmpty: boolean
  private readonly skip: GuardSettings['skip']
  private readonly allow: ReturnType<typeof addressRanges> | undefined
  private readonly deny: ReturnType<typeof addressRanges> | undefined
  private readonly failed: (error: unknown) => void

  constructor({ skip, allow, deny }: GuardSettings, failed: (error: unknown) => void) {
    this.skip = skip
    this.allow = allow === undefined ? undefined : addressRanges(allow, 'allow')
    this.deny = deny === undefined ? undefined : addressRanges(deny, 'deny')
    this.failed = failed
    this.isEmpty = skip === undefined && allow === undefined && deny === undefined
  }

  of(facts: RequestFacts): 'denied' | 'allowed' | undefined {
    if (this.deny?.has(facts.wholeIp) === true) return 'denied'
    if (this.allow?.has(facts.wholeIp) === true || this.skips(facts)) return 'allowed'
    return undefined
  }

  private skips(facts: RequestFacts): boolean {
    const { skip } = this
    if (skip === undefined) return false
    try {
      const skips = ({ view }: RequestFacts) => yesOrNo('skip', skip(view) ?? false)
      return skips(facts) && facts.elsewhere.every(skips)
    } catch (error) {
      this.failed(error)
      return false
    }
  }
}
