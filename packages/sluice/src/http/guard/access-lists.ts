import { addressRanges } from '../address/cidr.ts'
import type { RequestFacts } from '../request/request-facts.ts'
import type { GuardSettings } from './guard-options.ts'

/** Addresses that no limit concerns, and addresses that are not served. */
export class AccessLists {
  readonly isEmpty: boolean
  private readonly allow: ReturnType<typeof addressRanges> | undefined
  private readonly deny: ReturnType<typeof addressRanges> | undefined

  constructor({ allow, deny }: GuardSettings) {
    this.allow = allow === undefined ? undefined : addressRanges(allow, 'allow')
    this.deny = deny === undefined ? undefined : addressRanges(deny, 'deny')
    this.isEmpty = allow === undefined && deny === undefined
  }

  of(facts: RequestFacts): 'denied' | 'allowed' | undefined {
    if (this.deny?.has(facts.wholeIp) === true) return 'denied'
    return this.allow?.has(facts.wholeIp) === true ? 'allowed' : undefined
  }
}
