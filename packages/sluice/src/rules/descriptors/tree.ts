import type { RateLimit } from './rate-limit.ts'

/** One entry of a descriptor in a request. */
export interface DescriptorEntry {
  readonly key: string
  readonly value: string
}

/** A rule of a descriptor file: a node on the way down, with limits where a request may end. */
export interface DescriptorRule {
  /** The composite key its users know: `domain.key1_value1.subkey1`. */
  readonly name: string
  /** The parts of the name: the domain, and then one for each level. */
  readonly path: readonly string[]
  readonly key: string
  /** Empty: any value. */
  readonly value: string
  readonly limits: readonly RateLimit[]
  readonly shadow: boolean
  readonly quota: boolean
  /** Hits are counted even where they go over: costs are known only when the work is done. */
  readonly overdraw: boolean
  /** Metrics tell the values of this rule apart, though it does not name them. */
  readonly detailed: boolean
  /** The same for the value of this one level. */
  readonly valueToMetric: boolean
  /** All values of a wildcard are counted together. */
  readonly shared: boolean
  /** What envoyproxy/ratelimit would hand to Envoy. */
  readonly hasMetadata: boolean
  readonly next: Level
}

/** The rules that may follow at one place, by their key. */
export type Level = ReadonlyMap<string, Values>

/** The rules of one key. */
export interface Values {
  readonly exact: Map<string, DescriptorRule>
  /** In file order. */
  readonly wild: { readonly rule: DescriptorRule; matches(value: string): boolean }[]
  bare: DescriptorRule | undefined
}

/**
 * The rules that a request's entries lead through, one for each entry as far as there are any. At each level the exact
 * value comes first, then wildcards in file order, then the bare key; there is no way back from a choice.
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

/** The rules of a level, by key and in no order of meaning. */
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
