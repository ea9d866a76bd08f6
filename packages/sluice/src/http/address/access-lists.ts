import { addressRanges } from './cidr.ts'

/** Addresses that are exempt from every limit, and addresses that are refused. */
export class AccessLists {
  readonly isEmpty: boolean
  private readonly allow: ReturnType<typeof addressRanges> | undefined
  private readonly deny: ReturnType<typeof addressRanges> | undefined

  constructor({ allow, deny }: { allow?: readonly string[]; deny?: readonly string[] }) {
    this.allow = allow === undefined ? undefined : addressRanges(allow, 'allow')
    this.deny = deny === undefined ? undefined : addressRanges(deny, 'deny')
    this.isEmpty = allow === undefined && deny === undefined
  }

  of(address: string): 'denied' | 'exempt' | undefined {
    if (this.deny?.has(address) === true) return 'denied'
    return this.allow?.has(address) === true ? 'exempt' : undefined
  }
}
