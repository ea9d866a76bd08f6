import { duration, uint32 } from './carried-numbers.ts'
import { CODES, type RateLimitResponse, type Status, UNITS, type WireLimit } from './service.ts'

/** A RateLimitResponse in proto3's JSON, where a 0, an empty text and an empty list are left out. */
export function responseToJson({ overall, statuses, headers }: RateLimitResponse): string {
  return JSON.stringify({
    overallCode: CODES[overall],
    statuses: filled(statuses.map(statusOf)),
    responseHeadersToAdd: filled(headers?.map(({ key, value }) => ({ key: filled(key), value: filled(value) }))),
  })
}

function statusOf({ code, currentLimit, limitRemaining, resetMs }: Status) {
  return {
    code: CODES[code],
    currentLimit: currentLimit === undefined ? undefined : limitOf(currentLimit),
    limitRemaining: uint32(limitRemaining) || undefined,
    durationUntilReset: resetMs === undefined ? undefined : secondsOf(resetMs),
  }
}

function limitOf({ requestsPerUnit, unit, name }: WireLimit) {
  return {
    requestsPerUnit: uint32(requestsPerUnit) || undefined,
    unit: unit === 0 ? undefined : (UNITS[unit] ?? unit),
    name: filled(name),
  }
}

/** `0.4s`: as many digits as there are, in groups of three. */
function secondsOf(ms: number): string {
  const { seconds, nanos } = duration(ms)
  const fraction = String(nanos)
    .padStart(9, '0')
    .replace(/(000)+$/, '')
  return fraction === '' ? `${seconds}s` : `${seconds}.${fraction}s`
}

function filled<T extends { readonly length: number }>(value: T | undefined): T | undefined {
  return value === undefined || value.length === 0 ? undefined : value
}
