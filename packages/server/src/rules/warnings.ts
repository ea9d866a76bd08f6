import type { Policy } from 'sluice'
import {
  type DescriptorRule,
  type Domains,
  isPlans,
  type Level,
  policyWords,
  type RuleLimit,
  type Rules,
  rulesAt,
  rulesOf,
} from 'sluice/rules'

/** A valid rule that probably does not do what its author means. */
export interface RulesWarning {
  readonly code:
    | 'lone-fixed-window'
    | 'address-only-key'
    | 'login-and-health'
    | 'small-sliding-window'
    | 'metadata-not-sent'
    | 'memory-with-replicas'
  /** The limit or rule that the warning is about. Missing if it is about the whole file. */
  readonly limit?: string
  readonly message: string
}

export interface WarningContext {
  /** How many instances of the service there will be; 1 by default. */
  replicas?: number
  /** The store, if it is not the one that the file names. */
  store?: string
}

/** The attributes that one limit counts by. */
interface Counted {
  readonly limit: string
  readonly by: readonly string[]
}

/** The library counts a rate up to this limit by an exact log. */
const SMALL = 32

const ADDRESS = /^(.*[_-])?(ip|addr|address)$/i
const LOGIN = ['/login', '/signin', '/sign-in', '/auth', '/auth/login', '/token', '/oauth/token', '/session']
const HEALTH = ['/health', '/healthz', '/livez', '/readyz', '/ping', '/status']

export function ruleWarnings(rules: Rules, context: WarningContext = {}): RulesWarning[] {
  const enforced = rules.limits.filter(({ mode }) => mode === 'enforce')
  const smooth = enforced.filter(limit => !isFixed(limit) && limit.when.length === 0)
  const smoothed = new Set(smooth.map(callersOf))
  return [
    ...memoryWarning(context.store ?? rules.store ?? 'memory', context.replicas),
    ...addressWarnings(enforced.map(({ name, key }) => ({ limit: name, by: key }))),
    ...enforced.flatMap(limit => [
      ...loneWindow(limit, smoothed),
      ...smallWindow(limit.name, policiesOf(limit)),
      ...loginAndHealth(limit),
    ]),
  ]
}

export function descriptorWarnings(domains: Domains, context: WarningContext = {}): RulesWarning[] {
  const counted = [...domains.values()].flatMap(level => [...countedIn(level, [])])
  const fixed = counted.filter(({ rule }) => rule.limits.every(({ policy }) => policy?.kind === 'fixedWindow'))
  return [
    ...memoryWarning(context.store ?? 'memory', context.replicas),
    ...metadataWarning([...domains.values()].flatMap(level => [...rulesOf(level)])),
    ...addressWarnings(counted),
    ...counted.flatMap(({ limit, rule }) =>
      smallWindow(
        limit,
        rule.limits.flatMap(({ policy }) => policy ?? []),
      ),
    ),
    // In a plain file of envoyproxy/ratelimit every rule is a fixed window, so this warns once, not for every line.
    ...(fixed.length === 0 ? [] : [fixedWindowWarning(fixed.map(({ limit }) => limit))]),
  ]
}

/** The rules that refuse, from a level down, each with the keys that tell callers apart there. */
function* countedIn(level: Level, above: readonly string[]): Generator<Counted & { rule: DescriptorRule }> {
  for (const rule of rulesAt(level)) {
    const isOneValue = rule.value !== '' && (rule.shared || !rule.value.includes('*'))
    const by = isOneValue ? above : [...above, rule.key]
    const refuses = !rule.shadow && rule.limits.some(({ policy }) => policy !== undefined)
    if (refuses) yield { limit: rule.name, by, rule }
    yield* countedIn(rule.next, by)
  }
}

function memoryWarning(store: string, replicas = 1): RulesWarning[] {
  if (store !== 'memory' || replicas < 2) return []
  const message =
    `each of ${replicas} replicas counts by itself in its memory, so up to ${replicas} times every limit passes; ` +
    'use a Redis store'
  return [{ code: 'memory-with-replicas', message }]
}

/** One warning, however many rules it is about. */
function metadataWarning(rules: readonly DescriptorRule[]): RulesWarning[] {
  const [first, ...more] = rules.filter(({ hasMetadata }) => hasMetadata)
  if (first === undefined) return []
  const who = more.length === 0 ? `'${first.name}' has` : `${more.length + 1} rules, '${first.name}' first, have`
  const message = `${who} metadata, which is left aside: Envoy gets no dynamic metadata`
  return [{ code: 'metadata-not-sent', ...(more.length === 0 && { limit: first.name }), message }]
}

/** Warns if callers are told apart only by addresses. */
function addressWarnings(counted: readonly Counted[]): RulesWarning[] {
  const keyed = counted.filter(({ by }) => by.length > 0)
  if (!keyed.every(({ by }) => by.every(attribute => ADDRESS.test(attribute)))) return []
  return keyed.map(({ limit }) => ({
    code: 'address-only-key',
    limit,
    message:
      `'${limit}' counts by address, and nothing counts by user or API key: a crowd behind one address shares it, ` +
      'and an attacker has thousands of them',
  }))
}

/** Warns of a fixed window, unless another kind of limit for the same callers smooths it. */
function loneWindow(limit: RuleLimit, smoothed: ReadonlySet<string>): RulesWarning[] {
  return isFixed(limit) && !smoothed.has(callersOf(limit)) ? [fixedWindowWarning([limit.name])] : []
}

function callersOf({ key }: RuleLimit): string {
  return [...key].sort().join()
}

function isFixed({ policy }: RuleLimit): boolean {
  return policiesOf({ policy }).some(({ kind }) => kind === 'fixedWindow')
}

function policiesOf({ policy }: Pick<RuleLimit, 'policy'>): readonly Policy[] {
  return isPlans(policy) ? [...policy.policies.values()] : [policy]
}

/** A fraction of the previous window's count still weighs, so a small sliding window admits clearly fewer requests. */
function smallWindow(limit: string, policies: readonly Policy[]): RulesWarning[] {
  const small = policies.find(policy => policy.kind === 'slidingWindow' && policy.limit <= SMALL && policy.limit > 0)
  if (small === undefined) return []
  const message =
    `'${limit}' is a sliding window of ${policyWords(small).split(' (')[0]}: of so few it admits clearly fewer over time, ` +
    'one in two hours for 1/h; use sliding-log, which is exact'
  return [{ code: 'small-sliding-window', limit, message }]
}

function fixedWindowWarning([first, ...more]: readonly string[]): RulesWarning {
  const who = more.length === 0 ? `'${first}' counts` : `${more.length + 1} rules count, '${first}' first,`
  const message =
    `${who} in fixed windows alone: around the end of a window up to twice the limit passes; use a sliding window, ` +
    'or a bucket beside it'
  return { code: 'lone-fixed-window', ...(more.length === 0 && { limit: first! }), message }
}

/** A limit strict enough against guessed passwords fails health checks; one that lets these pass stops no guesser. */
function loginAndHealth({ name, key, when }: RuleLimit): RulesWarning[] {
  const over = when.find(({ attribute, holds }) => !key.includes(attribute) && LOGIN.some(holds) && HEALTH.some(holds))
  if (over === undefined) return []
  const message = `'${name}' is one limit over logins and health checks (${over.attribute} ${over.values.join(', ')})`
  return [{ code: 'login-and-health', limit: name, message: `${message}; give each its own` }]
}
