import type { ReadingTime } from './field-times.ts'
import type { Fields, ToldLimit } from './rate-limit-info.ts'
import { type BareItem, type FieldItem, type Parameters, parseDictionary, parseList } from './structured-fields.ts'

/** `RateLimit` and `RateLimit-Policy` of the IETF draft, from 08 on or 07, and Atlassian's trial of them. */
export function readStructuredFields(fields: Fields, time: ReadingTime): readonly ToldLimit[] {
  for (const prefix of ['', 'beta-']) {
    const limits = fields.get(`${prefix}ratelimit`)
    const policies = readPolicies(fields.get(`${prefix}ratelimit-policy`))
    const told = limits === undefined ? [] : readLimits(limits, policies, time)
    if (told.length > 0) return told
    // In draft 6 the numbers are in separate fields, and the policy only adds the window.
    if (policies.length > 0) return readDraft6(fields, policies, time)
  }
  return []
}

interface ToldPolicy {
  readonly name: string
  readonly limit: number
  readonly windowMs?: number
  readonly unit?: string
  readonly partition?: string
}

function readLimits(field: string, policies: readonly ToldPolicy[], time: ReadingTime): ToldLimit[] {
  const items = parseList(field)
  if (items === undefined || items.some(({ value }) => typeof value !== 'string')) {
    return readDraft7(field, policies, time)
  }
  return items.flatMap(({ value, parameters }) => {
    // An open proposal calls them a and w.
    const remaining = count(parameters.get('r') ?? parameters.get('a'))
    if (remaining === undefined) return []
    const resetS = count(parameters.get('t') ?? parameters.get('w'))
    const partition = text(parameters.get('pk'))
    const policy =
      policies.find(one => one.name === value && one.partition === partition) ??
      policies.find(one => one.name === value)
    return [
      {
        ...policy,
        name: String(value),
        remaining,
        ...resetIn(resetS, time),
        ...(partition !== undefined && { partition }),
      },
    ]
  })
}

function readDraft7(field: string, policies: readonly ToldPolicy[], time: ReadingTime): ToldLimit[] {
  const members = parseDictionary(field)
  return oneLimit(key => count(members?.get(key)?.value), policies, time)
}

function readDraft6(fields: Fields, policies: readonly ToldPolicy[], time: ReadingTime): ToldLimit[] {
  return oneLimit(key => leadingCount(fields.get(`ratelimit-${key}`)), policies, time)
}

function oneLimit(
  told: (key: 'limit' | 'remaining' | 'reset') => number | undefined,
  policies: readonly ToldPolicy[],
  time: ReadingTime,
): ToldLimit[] {
  const [limit, remaining] = [told('limit'), told('remaining')]
  if (remaining === undefined) return []
  const sized = limit !== undefined && { limit }
  return [{ ...windowOf(policies, limit), name: '', ...sized, remaining, ...resetIn(told('reset'), time) }]
}

/** Both old drafts report one limit; its policy is the one of the same size. */
function windowOf(policies: readonly ToldPolicy[], limit: number | undefined): { windowMs?: number } {
  const windowMs = policies.find(policy => policy.limit === limit)?.windowMs
  return windowMs === undefined ? {} : { windowMs }
}

/** `"burst";q=100;w=60` from draft 08 on, `100;w=60` before. */
function readPolicies(field: string | undefined): ToldPolicy[] {
  if (field === undefined) return []
  return (parseList(field) ?? []).flatMap(({ value, parameters }: FieldItem) => {
    const limit = typeof value === 'number' ? count(value) : count(parameters.get('q'))
    return limit === undefined
      ? []
      : [{ name: typeof value === 'string' ? value : '', limit, ...policyParts(parameters) }]
  })
}

function policyParts(parameters: Parameters): Omit<ToldPolicy, 'name' | 'limit'> {
  const windowS = count(parameters.get('w'))
  const unit = text(parameters.get('qu'))
  const partition = text(parameters.get('pk'))
  return {
    ...(windowS !== undefined && windowS > 0 && { windowMs: windowS * 1000 }),
    ...(unit !== undefined && { unit }),
    ...(partition !== undefined && { partition }),
  }
}

function resetIn(seconds: number | undefined, { now }: ReadingTime): { resetAt?: number } {
  return seconds === undefined ? {} : { resetAt: now + seconds * 1000 }
}

function leadingCount(field: string | undefined): number | undefined {
  const [, digits] = /^\s*(\d{1,15})\s*(?:[,;]|$)/.exec(field ?? '') ?? []
  return digits === undefined ? undefined : Number(digits)
}

function count(value: BareItem | undefined): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined
}

function text(value: BareItem | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}
