import { addressRanges } from 'sluice/http'
import { type AccessEntry, type Attributes, type Explanation, type Rules, readingsOf } from 'sluice/rules'

/** The verdict of a list on a subject: it is refused whatever the limits say, or passes and is counted nowhere. */
export interface Listed {
  readonly list: 'allow' | 'deny'
  /** The entry that matches, in words. */
  readonly entry: string
}

interface Entry {
  readonly words: string
  /** Whether an entry matches by some reading of each attribute, or by every reading. */
  holds(subject: Attributes, among: 'some' | 'every'): boolean
}

/** The `allow` and `deny` lists of a rules file. A subject on both is denied. */
export class SubjectLists {
  private readonly allow: readonly Entry[]
  private readonly deny: readonly Entry[]

  constructor({ allow, deny }: Pick<Rules, 'allow' | 'deny'>) {
    this.allow = allow.map(entry => entryOf(entry, 'allow'))
    this.deny = deny.map(entry => entryOf(entry, 'deny'))
  }

  find(subject: Attributes): Listed | undefined {
    // If servers read an attribute differently, one matching reading is enough to deny, but all must match to allow.
    const denied = this.deny.find(entry => entry.holds(subject, 'some'))
    if (denied !== undefined) return { list: 'deny', entry: denied.words }
    const allowed = this.allow.find(entry => entry.holds(subject, 'every'))
    return allowed && { list: 'allow', entry: allowed.words }
  }

  /** The decision in place of that of the limits. */
  explain(subject: Attributes): Explanation[] | undefined {
    const listed = this.find(subject)
    if (listed === undefined) return undefined
    const outcome = listed.list === 'deny' ? 'refused, whatever the limits say' : 'not counted by any limit'
    return [{ limit: listed.list, applies: true, why: `${listed.entry}: ${outcome}`, mode: 'enforce' }]
  }
}

function entryOf(entry: AccessEntry, list: 'allow' | 'deny'): Entry {
  if (typeof entry === 'string') {
    // The decision endpoint tells an IPv6 client by its network, 2001:db8::/64: ranges of that size or larger hold it.
    const ranges = addressRanges([entry], list)
    return {
      words: `ip is ${entry.includes('/') || !/\d/.test(entry) ? 'in ' : ''}${entry}`,
      holds: (subject, among) => agree(readingsOf(subject, 'ip'), among, ip => ranges.has(ip.replace(/\/64$/, ''))),
    }
  }
  return {
    words: entry.map(({ attribute, values }) => `${attribute} is '${values.join("' or '")}'`).join(' and '),
    holds: (subject, among) =>
      entry.every(({ attribute, holds }) => agree(readingsOf(subject, attribute), among, holds)),
  }
}

function agree(readings: readonly string[], among: 'some' | 'every', holds: (reading: string) => boolean): boolean {
  return readings.length > 0 && (among === 'some' ? readings.some(holds) : readings.every(holds))
}
