import type { RateLimit } from './rate-limit.ts'

/** One entry of a descriptor in a request. */
export interface DescriptorEntry {
  readonly key: string
  readonly value: string
}

/** A rule of a descriptor file: a node of the tree, with limits if a request may end here. */
export interface DescriptorRule {
  /** The composite key its users know: `domain.key1_value1.subkey1`. */
  readonly name: string
  /** The parts of the name: the domain, then one for each level. */
  readonly path: readonly string[]
  readonly key: string
  /** Empty if any value matches. */
  readonly value: string
  readonly limits: readonly RateLimit[]
  readonly shadow: boolean
  readonly quota: boolean
  /** Hits are counted even if they exceed the limit, because costs are known only when the work is done. */
  readonly overdraw: boolean | undefined
  /** Metrics report each value of this rule, although the rule does not name them. */
  readonly detailed: boolean
  /** The same for the value of this one level. */
  readonly valueToMetric: boolean
  /** All values of a wildcard are counted together. */
  readonly shared: boolean
  /** envoyproxy/ratelimit would pass this on to Envoy. */
  readonly hasMetadata: boolean
  readonly next: Level
}

/** The rules of one level, by their key. */
export type Level = ReadonlyMap<string, Values>

/** The rules of one key. */
export interface Values {
  readonly exact: Map<string, DescriptorRule>
  /** In file order. */
  readonly wild: { readonly rule: DescriptorRule; matches(value: string): boolean }[]
  bare: DescriptorRule | undefined
}

/**
 * The rules that a request's entries match, one for each entry, until an entry matches none. At each level the exact
 * value comes first, then wildcards in file order, then the bare key. A choice is never revised.
 */
export function walk(top: Level, entries: readonly DescriptorEntry[]): DescriptorRule[] {
  const rules = new Array<DescriptorRule>(entries.length)
  let depth = 0
  let level = top
  for (const { key, value } of entries) {
    const rule = find(level.get(key), value)
    if (rule === undefined) break
    rules[depth++] = rule
    level = rule.next
  }
  if (depth < rules.length) rules.length = depth
  return rules
}

function find(values: Values | undefined, value: string): DescriptorRule | undefined {
  if (values === undefined) return undefined
  return values.exact.get(value) ?? values.wild.find(({ matches }) => matches(value))?.rule ?? values.bare
}

/** The rules of a level by key, in no particular order. */
export function* rulesAt(level: Level): Generator<DescriptorRule> {
  for (const { exact, wild, bare } of level.values()) {
    yield* exact.values()
    for (const { rule } of wild) yield rule
    if (bare !== undefined) yield bare
  }
}

/** The rules from a level down. */
export function* rulesOf(level: Level): Generator<DescriptorRule> {
  for (const rule of rulesAt(level)) {
    yield rule
    yield* rulesOf(rule.next)
  }
}
