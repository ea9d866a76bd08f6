import { assertTimeZone } from '../../calendar.ts'
import { parseDuration, parseRate } from '../../duration.ts'
import {
  concurrency,
  fixedWindow,
  gcra,
  leakyBucket,
  type Policy,
  policyOf,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../../policy.ts'
import { limitOf, windowOf } from '../../policy-options.ts'
import type { ConfigNode } from '../config-node.ts'

/** How each option of a policy is written. Each is checked by itself, so that all errors of a policy are reported. */
const OPTIONS: Readonly<Record<string, (node: ConfigNode) => unknown>> = {
  limit: node => limitOf(node.value, 'a limit'),
  capacity: node => limitOf(node.value, 'a capacity'),
  burst: node => limitOf(node.value, 'a burst'),
  buckets: node => node.value,
  align: node => node.value,
  refill: node => parseRate(node.value, 'refill'),
  leak: node => parseRate(node.value, 'leak'),
  rate: node => parseRate(node.value, 'rate'),
  window: node => windowOf(node.value, 'window'),
  ttl: node => parseDuration(node.value, 'ttl', { min: 1 }, 'SLUICE_BAD_TTL'),
  time_zone: node => assertTimeZone(node.value),
}

interface Algorithm {
  readonly required: readonly string[]
  readonly optional: readonly string[]
  /** Whether a rules file may also write this policy as a rate, `60/1m`. */
  readonly byRate: boolean
  // The caller checks the options by the lists above, and the factory checks their values again.
  make(options: never): Policy
}

const window = { required: ['limit', 'window'], optional: [], byRate: true }
const bucket = { optional: [], byRate: false }

const ALGORITHMS: Readonly<Record<string, Algorithm>> = {
  'sliding-window': { ...window, optional: ['buckets'], make: slidingWindow },
  'token-bucket': { ...bucket, required: ['capacity', 'refill'], make: tokenBucket },
  'leaky-bucket': { ...bucket, required: ['capacity', 'leak'], make: leakyBucket },
  gcra: { ...bucket, required: ['rate', 'burst'], make: gcra },
  // A calendar needs no window. Otherwise the factory reports that it is missing.
  'fixed-window': { ...window, required: ['limit'], optional: ['window', 'align', 'time_zone'], make: fixedWindow },
  'sliding-log': { ...window, make: slidingLog },
  concurrency: { ...bucket, required: ['limit', 'ttl'], make: concurrency },
}

export const ALGORITHM_NAMES = Object.keys(ALGORITHMS)

/** The policy under the name of an algorithm. */
export function readPolicy(algorithm: string, node: ConfigNode): Policy | undefined {
  const { required, optional, byRate, make } = ALGORITHMS[algorithm]!
  const { value } = node
  if (byRate && typeof value === 'string') {
    const rate = node.attempt(() => parseRate(value, algorithm))
    return rate && node.attempt(() => make({ limit: rate.count, window: `${rate.periodMs}ms` } as never))
  }
  const known = [...required, ...optional]
  const members = node.members(`${byRate ? "a rate such as '60/1m' or " : ''}a map of ${known.join(', ')}`, known)
  if (members === undefined) return undefined
  const options: Record<string, unknown> = {}
  let whole = true
  for (const name of known) {
    if (!members.has(name) && !required.includes(name)) continue
    const member = node.member(name)
    if (member.attempt(() => OPTIONS[name]!(member)) === undefined) whole = false
    // Passed on as written, so that the factory's error shows what the author wrote.
    options[name === 'time_zone' ? 'timeZone' : name] = member.value
  }
  return whole ? node.attempt(() => make(options as never)) : undefined
}

/** A rate, or a map of one algorithm: how a plan is written. */
export function readPlanPolicy(node: ConfigNode): Policy | undefined {
  const { value } = node
  if (typeof value === 'string') return node.attempt(() => policyOf(value))
  const members = node.members("a rate such as '60/1m' or a map of one algorithm", ALGORITHM_NAMES)
  if (members === undefined) return undefined
  if (Object.keys(node.value as object).length !== 1) return node.wrong('one algorithm')
  const [only] = members
  return only && readPolicy(...only)
}
