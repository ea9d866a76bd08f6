import { type Place, readFiles } from '../place.ts'
import { type RuleLimit, readLimit } from './limit.ts'

/** A rules file of our own, checked. */
export interface Rules {
  /** `memory`, `redis://…`, `rediss://…` or `redis-cluster://…`; may hold a password. */
  readonly store: string | undefined
  readonly name: string
  readonly prefix: string
  /** Ranges, or how many proxies stand in front. */
  readonly trustedProxies: readonly string[] | number | undefined
  readonly limits: readonly RuleLimit[]
}

const MEMBERS = ['store', 'name', 'prefix', 'trusted_proxies', 'limits']
const STORE = /^(memory$|rediss?:\/\/.|redis-cluster:\/\/.)/

/** Checks a parsed rules file; throws `RulesError` with everything that is wrong with it. */
export function readRules(parsed: unknown): Rules {
  return readFiles([parsed], ([file]) => readFile(file!))
}

function readFile(file: Place): Rules | undefined {
  if (isDescriptorFile(file.value)) {
    return file.wrong('a rules file with limits', 'this one is for envoyproxy/ratelimit: load it as such')
  }
  const members = file.members('a rules file as a map', MEMBERS)
  if (members === undefined) return undefined
  const store = members.get('store')
  const proxies = members.get('trusted_proxies')
  const rules = {
    store: store && readStore(store),
    name: members.get('name')?.text('a name') ?? 'default',
    prefix: members.get('prefix')?.text('a prefix') ?? 'sluice',
    trustedProxies: proxies && readProxies(proxies),
  }
  const limits = readLimits(file.member('limits'))
  return limits && { ...rules, limits }
}

function readLimits(place: Place): RuleLimit[] | undefined {
  const members = place.members('a map of named limits')
  if (members?.size === 0) return place.wrong('at least one limit')
  if (members === undefined) return undefined
  const limits = [...members].flatMap(([name, member]) => readLimit(name, member) ?? [])
  for (const { name, replaces } of limits) {
    if (replaces === undefined || (replaces !== name && members.has(replaces))) continue
    place.member(name).member('replaces').wrong('the name of another limit')
  }
  return limits
}

/** What came is not shown: it may hold a password. */
function readStore(place: Place): string | undefined {
  const { value } = place
  if (typeof value === 'string' && STORE.test(value)) return value
  const shown = typeof value === 'string' ? `${/^[a-z-]+:/i.exec(value)?.[0] ?? ''}…` : value
  return place.shownAs(shown).wrong('memory, redis://…, rediss://… or redis-cluster://…')
}

function readProxies(place: Place): string[] | number | undefined {
  const { value } = place
  const what = 'a list of address ranges, or how many proxies there are'
  if (typeof value === 'number') return Number.isInteger(value) && value >= 0 ? value : place.wrong(what)
  const ranges = place.items(what)
  return ranges?.flatMap(range => range.text("an address range such as '10.0.0.0/8'") ?? [])
}

function isDescriptorFile(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'domain' in value && 'descriptors' in value
}
