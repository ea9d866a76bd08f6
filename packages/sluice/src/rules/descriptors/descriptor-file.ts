import { type ConfigNode, readFiles } from '../config-node.ts'
import { isWildcard, wildcard } from '../wildcard.ts'
import { type RateLimit, readRateLimit } from './rate-limit.ts'
import type { DescriptorRule, Level, Values } from './tree.ts'

/** All rules of all files, by domain. */
export type Domains = ReadonlyMap<string, Level>

const FLAGS = ['shadow_mode', 'quota_mode', 'detailed_metric', 'value_to_metric', 'share_threshold', 'overdraw']
const MEMBERS = ['key', 'value', 'rate_limit', 'rate_limits', 'descriptors', 'metadata', ...FLAGS]
/** No request has this many entries. The bound stops the reader if an alias makes a file contain itself. */
const DEEPEST = 64

export interface DescriptorFileOptions {
  /**
   * If true, files of one domain are read as one; otherwise a domain has one file. The same descriptor twice is an
   * error either way.
   */
  mergeDomains?: boolean
}

/** Checks parsed files for envoyproxy/ratelimit; throws `RulesError` with everything that is wrong with any of them. */
export function readDescriptorFiles(
  files: readonly unknown[],
  { mergeDomains = false }: DescriptorFileOptions = {},
): Domains {
  return readFiles(files, nodes => {
    const domains = new Map<string, Map<string, Values>>()
    for (const node of nodes) readFile(node, domains, mergeDomains)
    return domains
  })
}

function readFile(node: ConfigNode, domains: Map<string, Map<string, Values>>, mergeDomains: boolean): void {
  const members = node.members('a file with domain and descriptors', ['domain', 'descriptors'])
  if (members === undefined) return
  const domain = node.member('domain').spelt('a domain that is not empty')
  if (domain === '') node.member('domain').wrong('a domain that is not empty')
  const level = domain === undefined ? undefined : domains.get(domain)
  const read = readLevel(members.get('descriptors'), [domain ?? ''], 1, mergeDomains ? level : undefined)
  if (level !== undefined && !mergeDomains) {
    node.member('domain').wrong('a domain of its own (duplicate domain)')
  }
  if (domain !== undefined) domains.set(domain, read)
}

/** The rules of a list. An empty or missing list is a level without rules. */
function readLevel(
  node: ConfigNode | undefined,
  parent: readonly string[],
  depth: number,
  level: Map<string, Values> = new Map(),
): Map<string, Values> {
  if (node === undefined || node.value === null) return level
  if (Array.isArray(node.value) && node.value.length === 0) return level
  if (depth > DEEPEST) {
    node.wrong(`at most ${DEEPEST} levels of descriptors`)
    return level
  }
  for (const item of node.items('a list of descriptors') ?? []) {
    const rule = readRule(item, parent, depth)
    if (rule !== undefined) addRule(level, rule, item)
  }
  return level
}

function readRule(node: ConfigNode, parent: readonly string[], depth: number): DescriptorRule | undefined {
  const members = node.members('a descriptor as a map', MEMBERS)
  if (members === undefined) return undefined
  const key = node.member('key').spelt('a key that is not empty')
  if (key === '') node.member('key').wrong('a key that is not empty')
  const value = node.member('value').value == null ? '' : (node.member('value').spelt('a value as text') ?? '')
  const path = [...parent, `${key}${value === '' ? '' : `_${value}`}`]
  const flag = (member: string) => members.get(member)?.flag('true or false') ?? false
  const shared = flag('share_threshold')
  if (shared && !isWildcard(value)) {
    members.get('share_threshold')!.wrongName('share_threshold only beside a value with a wildcard *')
  }
  members.get('metadata')?.members('a map')
  const rule = {
    name: path.join('.'),
    path,
    value,
    limits: readLimits(node, members),
    shadow: flag('shadow_mode'),
    quota: flag('quota_mode'),
    overdraw: members.get('overdraw')?.flag('true or false'),
    detailed: flag('detailed_metric'),
    valueToMetric: flag('value_to_metric'),
    shared,
    hasMetadata: members.has('metadata'),
    next: readLevel(members.get('descriptors'), path, depth + 1),
  }
  return key === undefined || key === '' ? undefined : { ...rule, key }
}

/** `rate_limit` is one, `rate_limits` are several that all apply. */
function readLimits(node: ConfigNode, members: ReadonlyMap<string, ConfigNode>): RateLimit[] {
  const [one, several] = [members.get('rate_limit'), members.get('rate_limits')]
  if (one !== undefined && several !== undefined) several.wrongName('rate_limit or rate_limits, not both')
  const nodes = one === undefined ? [] : [one]
  if (several !== undefined) nodes.push(...(node.member('rate_limits').items('a list of rate limits') ?? []))
  return nodes.flatMap(limit => readRateLimit(limit) ?? [])
}

function addRule(level: Map<string, Values>, rule: DescriptorRule, node: ConfigNode): void {
  const { key, value, name } = rule
  const values: Values = level.get(key) ?? { exact: new Map(), wild: [], bare: undefined }
  level.set(key, values)
  const taken = value === '' ? values.bare !== undefined : values.exact.has(value)
  if (taken || values.wild.some(other => other.rule.value === value)) {
    node
      .member(value === '' ? 'key' : 'value')
      .shownAs(name)
      .wrong('a composite key once (duplicate composite key)')
  } else if (value === '') values.bare = rule
  else if (isWildcard(value)) values.wild.push({ rule, matches: wildcard(value) })
  else values.exact.set(value, rule)
}
