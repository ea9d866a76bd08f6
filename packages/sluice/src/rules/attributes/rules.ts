import { type ConfigNode, readFiles } from '../config-node.ts'
import { type AccessEntry, readAccessList } from './access-list.ts'
import { type RuleLimit, readLimit } from './limit.ts'

/** A rules file of Sluice, checked. */
export interface Rules {
  /** `memory`, `redis://…`, `rediss://…` or `redis-cluster://…`. It may contain a password. */
  readonly store: string | undefined
  readonly name: string
  readonly prefix: string
  /** Address ranges, or the number of proxies in front. */
  readonly trustedProxies: readonly string[] | number | undefined
  /** Further attributes that checks may send although no limit needs them. */
  readonly attributes: readonly string[]
  /** Callers that pass and are not counted. Only the service applies this list, a limiter does not. */
  readonly allow: readonly AccessEntry[]
  /** Callers that are refused whatever the limits say, even if they are also allowed. Only the service applies it. */
  readonly deny: readonly AccessEntry[]
  readonly limits: readonly RuleLimit[]
}

const MEMBERS = ['store', 'name', 'prefix', 'trusted_proxies', 'attributes', 'allow', 'deny', 'limits']
const STORE = /^(memory$|rediss?:\/\/.|redis-cluster:\/\/.)/

/** Checks a parsed rules file; throws `RulesError` with all its errors. */
export function readRules(parsed: unknown): Rules {
  return readFiles([parsed], ([file]) => readFile(file!))
}

function readFile(file: ConfigNode): Rules | undefined {
  if (isDescriptorFile(file.value)) {
    return file.wrong('a rules file with limits', 'this one is for envoyproxy/ratelimit: load it as such')
  }
  const members = file.members('a rules file as a map', MEMBERS)
  if (members === undefined) return undefined
  const store = members.get('store')
  const proxies = members.get('trusted_proxies')
  const attributes = members.get('attributes')
  const [allow, deny] = [members.get('allow'), members.get('deny')]
  const rules = {
    store: store && readStore(store),
    name: members.get('name')?.text('a name') ?? 'default',
    prefix: members.get('prefix')?.text('a prefix') ?? 'sluice',
    trustedProxies: proxies && readProxies(proxies),
    attributes: (attributes && readNames(attributes)) ?? [],
    allow: (allow && readAccessList(allow)) ?? [],
    deny: (deny && readAccessList(deny)) ?? [],
  }
  const limits = readLimits(file.member('limits'))
  return limits && { ...rules, limits }
}

function readLimits(node: ConfigNode): RuleLimit[] | undefined {
  const members = node.members('a map of named limits')
  if (members?.size === 0) return node.wrong('at least one limit')
  if (members === undefined) return undefined
  const limits = [...members].flatMap(([name, member]) => readLimit(name, member) ?? [])
  for (const { name, replaces } of limits) {
    if (replaces === undefined || (replaces !== name && members.has(replaces))) continue
    node.member(name).member('replaces').wrong('the name of another limit')
  }
  return limits
}

/** The value is not shown, because it may contain a password. */
function readStore(node: ConfigNode): string | undefined {
  const { value } = node
  if (typeof value === 'string' && STORE.test(value)) return value
  const shown = typeof value === 'string' ? `${/^[a-z-]+:/i.exec(value)?.[0] ?? ''}…` : value
  return node.shownAs(shown).wrong('memory, redis://…, rediss://… or redis-cluster://…')
}

function readProxies(node: ConfigNode): string[] | number | undefined {
  const { value } = node
  const what = 'a list of address ranges, or how many proxies there are'
  if (typeof value === 'number') return Number.isInteger(value) && value >= 0 ? value : node.wrong(what)
  const ranges = node.items(what)
  return ranges?.flatMap(range => range.text("an address range such as '10.0.0.0/8'") ?? [])
}

function readNames(node: ConfigNode): string[] | undefined {
  const what = 'a list of attributes'
  return node.items(what)?.flatMap(item => item.text(what) ?? [])
}

function isDescriptorFile(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'domain' in value && 'descriptors' in value
}
