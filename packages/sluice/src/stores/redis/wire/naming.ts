import type { Rule } from '../../../algorithms/rule.ts'
import { formatMs } from '../../../duration.ts'
import type { Charge } from '../../charge.ts'
import type { Space } from '../../limit.ts'

/**
 * The name of a limit's keys: `{tag}` path `:` kind and window `:` key. It is short, since every call carries all its
 * names.
 */
export class RedisSpace implements Space {
  readonly path: string
  private readonly store: { readonly localShare: number }
  private readonly text: string
  private readonly prefixes = new Map<Rule, KeyPrefix>()
  /** The rule of the last call, which is nearly always the next one too. */
  private lastRule: Rule | undefined
  private lastPrefix: KeyPrefix | undefined

  constructor(path: string, store: { readonly localShare: number }) {
    this.path = path
    this.store = store
    this.text = pathText(path)
    this.lastRule = undefined
    this.lastPrefix = undefined
  }

  get localShare(): number {
    return this.store.localShare
  }

  prefixOf(rule: Rule): KeyPrefix {
    if (rule === this.lastRule) return this.lastPrefix!
    let prefix = this.prefixes.get(rule)
    if (prefix === undefined) {
      // There may be many plans chosen for each subject, made anew each time.
      if (this.prefixes.size >= MOST_PREFIXES) this.prefixes.clear()
      prefix = new KeyPrefix(this.text + kindOf(rule))
      this.prefixes.set(rule, prefix)
    }
    this.lastRule = rule
    this.lastPrefix = prefix
    return prefix
  }
}

const MOST_PREFIXES = 1000

/** The part of a name between the tag and the key, for all keys of a limit under one rule. Two rules may share it. */
export class KeyPrefix {
  readonly text: string
  /** All that precedes a key, by tag. It is kept because building it costs more than the rest of a name. */
  private readonly starts: string[] = []

  constructor(text: string) {
    this.text = text
  }

  startFor(tag: number): string {
    this.starts[tag] ??= `{${tag}}${this.text}:`
    return this.starts[tag]
  }
}

export function prefixOf(charge: Charge): KeyPrefix {
  return (charge.limit.space as RedisSpace).prefixOf(charge.rule)
}

export function nameOf(prefix: KeyPrefix, key: string, tag: number): string {
  return isWellFormed(key) ? prefix.startFor(tag) + key : `{${tag}}${prefix.text};${escaped(key)}`
}

/**
 * A text for each shape of rule. A bucket keeps its state when its rate changes; the other kinds start without state
 * under another window. The text is short, because the server needs one object instead of two for a name of up to 44
 * bytes.
 */
function kindOf(rule: Rule): string {
  if (rule.kind === 'bucket' || rule.kind === 'slots') return rule.kind
  if (rule.kind === 'fixed' && rule.windowTicks === 0) return rule.shape.replaceAll(' ', '-')
  const text = `${rule.kind}-${formatMs(rule.policy.windowMs)}`
  if (rule.kind === 'fixed' && rule.policy.align !== 'epoch') return `${text}-${rule.policy.align}`
  return rule.kind === 'sliding' && rule.buckets > 1 ? `${text}-${rule.buckets}` : text
}

/**
 * Each part of a path is preceded by its length, so no two paths are equal. Three plain words, the usual case, need no
 * lengths and read better: `sluice:api:user:`. Any other path is written after a `~`.
 */
function pathText(path: string): string {
  const parts = path.charCodeAt(0) === 0 ? partsOf(path) : undefined
  if (parts?.length === 3 && parts.every(part => /^[\w-]+$/.test(part))) return `${parts.join(':')}:`
  const text = path.charCodeAt(0) === 0 ? path.slice(1) : path
  return isWellFormed(text) ? `~${text}:` : `~;${escaped(text)}:`
}

/** The parts a key or path was made of; undefined if it is plain. */
function partsOf(text: string): string[] | undefined {
  const parts: string[] = []
  let at = 1
  while (at < text.length) {
    const colon = text.indexOf(':', at)
    const length = Number(text.slice(at, colon))
    if (colon < 0 || !Number.isInteger(length)) return undefined
    parts.push(text.slice(colon + 1, colon + 1 + length))
    at = colon + 1 + length
  }
  return parts
}

/**
 * Refuses half a surrogate pair: it has no UTF-8 form, so clients would send a replacement and different keys would
 * collide.
 */
function isWellFormed(key: string): boolean {
  return (key as string & { isWellFormed(): boolean }).isWellFormed()
}

function escaped(key: string): string {
  return key.replace(/%|\p{Surrogate}/gu, unit => (unit === '%' ? '%%' : `%${unit.charCodeAt(0).toString(16)}`))
}
