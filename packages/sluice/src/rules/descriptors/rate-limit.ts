import { assertTimeZone } from '../../calendar.ts'
import type { OnOutage } from '../../limiter/outage/on-outage.ts'
import { fixedWindow, gcra, leakyBucket, type Policy, slidingLog, slidingWindow, tokenBucket } from '../../policy.ts'
import { windowOf } from '../../policy-options.ts'
import type { ConfigNode } from '../config-node.ts'
import { checkOnOutage, readOnOutage } from '../on-outage.ts'
import { UNIT_NAMES, UNKNOWN_UNIT, unitNamed, unitOfMs } from './units.ts'

/** What a status says about its limit. */
export interface CurrentLimit {
  readonly requestsPerUnit: number
  /** As on the wire: 1 second, 2 minute, 3 hour, 4 day, 5 month, 6 year, 7 week, 0 another period. */
  readonly unit: number
  readonly name?: string
}

/** One `rate_limit`, checked. */
export interface RateLimit {
  /** Undefined if the rule is unlimited. */
  readonly policy: Policy | undefined
  readonly current: CurrentLimit | undefined
  readonly name: string | undefined
  /** The names of the rules that are ignored when this one matches. */
  readonly replaces: readonly string[]
  readonly onOutage: OnOutage
}

const MEMBERS = ['unit', 'requests_per_unit', 'unlimited', 'name', 'replaces']
/** Settings that envoyproxy/ratelimit does not have. */
const MORE_MEMBERS = ['period', 'algorithm', 'burst', 'time_zone', 'on_outage']
const UINT32_MAX = 2 ** 32 - 1
const CALENDAR = ['day', 'week', 'month'] as const

interface Amounts {
  readonly limit: number
  readonly periodMs: number
  readonly burst: number
}

const ALGORITHMS: Readonly<Record<string, (amounts: Amounts) => Policy>> = {
  'fixed-window': ({ limit, periodMs }) => fixedWindow({ limit, window: `${periodMs}ms` }),
  'sliding-window': ({ limit, periodMs }) => slidingWindow({ limit, window: `${periodMs}ms` }),
  'sliding-log': ({ limit, periodMs }) => slidingLog({ limit, window: `${periodMs}ms` }),
  'token-bucket': ({ limit, periodMs, burst }) => tokenBucket({ capacity: burst, refill: { count: limit, periodMs } }),
  'leaky-bucket': ({ limit, periodMs, burst }) => leakyBucket({ capacity: burst, leak: { count: limit, periodMs } }),
  gcra: ({ limit, periodMs, burst }) => gcra({ burst, rate: { count: limit, periodMs } }),
}
const HAVE_BURST = ['token-bucket', 'leaky-bucket', 'gcra']

export function readRateLimit(node: ConfigNode): RateLimit | undefined {
  const members = node.members('a rate limit as a map', [...MEMBERS, ...MORE_MEMBERS])
  if (members === undefined) return undefined
  const name = members.get('name')?.spelt('a name')
  const outage = members.get('on_outage')
  const about = {
    name,
    replaces: readReplaces(members.get('replaces'), name),
    onOutage: (outage && readOnOutage(outage)) ?? 'local',
  }
  if (members.get('unlimited')?.flag('true or false') === true) {
    for (const member of ['unit', 'period', 'algorithm', 'burst', 'time_zone']) {
      members.get(member)?.wrongName('no such thing beside unlimited: true')
    }
    return { ...about, policy: undefined, current: undefined }
  }
  const limit = readUint32(node.member('requests_per_unit'))
  const periodMs = readPeriodMs(node, members)
  const algorithm = members.get('algorithm')?.oneOf(Object.keys(ALGORITHMS)) ?? 'fixed-window'
  const burst = readBurst(members.get('burst'), algorithm)
  if (limit === undefined || periodMs === undefined) return undefined
  const zone = members.get('time_zone')
  const policy =
    zone === undefined
      ? node.attempt(() => ALGORITHMS[algorithm]!({ limit, periodMs, burst: burst ?? limit }))
      : readCalendar(zone, algorithm, limit, members.get('unit')?.value)
  if (outage && policy) checkOnOutage(outage, 'rate_limit', about.onOutage, policy)
  const unit = unitOfMs(periodMs)?.number ?? UNKNOWN_UNIT
  return policy && { ...about, policy, current: { requestsPerUnit: limit, unit, ...(name !== undefined && { name }) } }
}

function readUint32(node: ConfigNode): number | undefined {
  const { value } = node
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= UINT32_MAX) return value
  return node.wrong('requests_per_unit as a whole number from 0 to 4294967295', undefined, 'SLUICE_BAD_LIMIT')
}

function readPeriodMs(node: ConfigNode, members: ReadonlyMap<string, ConfigNode>): number | undefined {
  const [unit, period] = [members.get('unit'), members.get('period')]
  if (period === undefined) {
    const known = unitNamed(unit?.value)
    return known?.ms ?? node.member('unit').wrong(`a rate limit unit: ${UNIT_NAMES.join(', ')}`)
  }
  if (unit !== undefined) return period.wrongName('a period or a unit, not both')
  const { value } = period
  return period.attempt(() => windowOf(value, 'period'))
}

function readBurst(node: ConfigNode | undefined, algorithm: string): number | undefined {
  if (node === undefined || HAVE_BURST.includes(algorithm)) return node && readUint32(node)
  return node.wrongName(`no burst beside algorithm ${algorithm}`, `choose one of ${HAVE_BURST.join(', ')}`)
}

/** A time zone makes the unit a day, week or month of the calendar there. */
function readCalendar(node: ConfigNode, algorithm: string, limit: number, unit: unknown): Policy | undefined {
  const timeZone = node.attempt(() => assertTimeZone(node.value))
  const align = CALENDAR.find(one => one === unitNamed(unit)?.name)
  if (align === undefined || algorithm !== 'fixed-window') {
    return node.wrongName(`a time_zone only beside unit ${CALENDAR.join(', ')} and the algorithm fixed-window`)
  }
  return timeZone === undefined ? undefined : node.attempt(() => fixedWindow({ limit, align, timeZone }))
}

function readReplaces(node: ConfigNode | undefined, own: string | undefined): string[] {
  const what = 'a list of { name }'
  const entries = node?.items(what) ?? []
  return entries.flatMap(entry => {
    if (entry.members(what, ['name']) === undefined) return []
    const name = entry.member('name')
    const replaced = name.value === undefined ? name.wrong('the name of a rule') : name.spelt('the name of a rule')
    if (replaced === '') return name.wrong('the name of a rule') ?? []
    if (replaced !== undefined && replaced === own) return name.wrong('the name of another rule') ?? []
    return replaced ?? []
  })
}
