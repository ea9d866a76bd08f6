import { parseCount, parseReset, type ReadingTime } from './field-times.ts'
import type { Fields, ToldLimit } from './rate-limit-info.ts'

/**
 * Fields with one number each: `X-RateLimit-Remaining`, `x-rate-limit-reset`, `anthropic-ratelimit-tokens-limit`,
 * `x-ratelimit-reset-requests`, `RateLimit-Limit`. What follows `ratelimit-` is a role and, before or after it, the name
 * of the limit.
 */
const NAMED = /^(?:[a-z]+-){0,3}?rate-?limit-([a-z-]{1,60})$/
const ROLE = /^(?:(.+)-)?(limit|remaining|reset-after|reset|bucket|resource|scope|global)(?:-(.+))?$/

interface NamedLimitFields {
  name: string
  limit?: number
  remaining?: number
  resetAt?: number
  /** The reset as computed from a wait. It replaces `resetAt`: a wait is finer than a date and needs no clock. */
  resetAfterAt?: number
}

export interface NamedFields {
  readonly policies: readonly ToldLimit[]
  readonly bucket: string | undefined
  readonly scope: string | undefined
}

export function readNamedFields(fields: Fields, time: ReadingTime, resetUnit: 's' | 'ms'): NamedFields {
  const found = new Map<string, NamedLimitFields>()
  let bucket: string | undefined
  let resource: string | undefined
  let scope: string | undefined
  for (const [field, value] of fields) {
    const [, tail] = NAMED.exec(field) ?? []
    const [, before = '', role, behind = ''] = (tail !== undefined && ROLE.exec(tail)) || []
    if (role === undefined) continue
    if (role === 'bucket') bucket = text(value)
    else if (role === 'resource') resource = text(value)
    else if (role === 'scope') scope = text(value)
    else if (role === 'global') scope ??= value === 'true' ? 'global' : undefined
    else {
      const name = before || behind
      const policy = found.get(name) ?? { name }
      if (readNumber(policy, role, value, time, resetUnit)) found.set(name, policy)
    }
  }
  readShopify(fields, found)
  return { policies: [...found.values()].map(toldLimit), bucket: bucket ?? resource, scope }
}

function readNumber(
  policy: NamedLimitFields,
  role: string,
  value: string,
  time: ReadingTime,
  resetUnit: 's' | 'ms',
): boolean {
  // Draft 6 and before: `RateLimit-Limit: 100, 100;w=60`. The first number is the limit.
  if (role === 'limit') return setIfKnown(policy, 'limit', parseCount(/^[^,;]*/.exec(value)![0]))
  if (role === 'remaining') return setIfKnown(policy, 'remaining', parseCount(value))
  return setIfKnown(policy, role === 'reset' ? 'resetAt' : 'resetAfterAt', parseReset(value, time, resetUnit))
}

function setIfKnown(
  policy: NamedLimitFields,
  key: Exclude<keyof NamedLimitFields, 'name'>,
  value: number | undefined,
): boolean {
  if (value !== undefined) policy[key] = value
  return value !== undefined
}

function toldLimit({ resetAfterAt, ...told }: NamedLimitFields): ToldLimit {
  return resetAfterAt === undefined ? told : { ...told, resetAt: resetAfterAt }
}

/** `X-Shopify-Shop-Api-Call-Limit: 32/40`: 32 of 40 are used. */
function readShopify(fields: Fields, found: Map<string, NamedLimitFields>): void {
  const [, used, limit] = /^(\d{1,9})\/(\d{1,9})$/.exec(fields.get('x-shopify-shop-api-call-limit') ?? '') ?? []
  if (limit === undefined) return
  found.set('', { name: '', limit: Number(limit), remaining: Math.max(0, Number(limit) - Number(used)) })
}

/** Names are kept, so they have to be short. */
function text(value: string): string | undefined {
  return value === '' || value.length > 200 ? undefined : value
}
