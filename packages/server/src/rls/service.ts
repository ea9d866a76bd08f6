import type { Awaitable } from '../awaitable.ts'
/**
 * What Envoy asks and what it is told, apart from how either travels: over gRPC and as JSON it is the same.
 *
 * A request that gets here is well-formed: it has a domain and a descriptor, every descriptor has an entry, every entry
 * has a key, and the unit of an override is a real one. An answer has one status for each descriptor, in order. Whoever
 * cannot answer throws, or rejects with, an error that carries its gRPC status (`GrpcError`); Envoy would let a request
 * through whose code is UNKNOWN, so no answer can say that.
 */
export interface RateLimitService {
  shouldRateLimit(request: RateLimitRequest): Awaitable<RateLimitResponse>
}

export interface RateLimitRequest {
  readonly domain: string
  readonly descriptors: readonly Descriptor[]
  /** 0 where the caller said nothing. */
  readonly hitsAddend: number
}

export interface Descriptor {
  readonly entries: readonly WireEntry[]
  /** Takes the place of the limit in the rules. */
  readonly limit?: Override | undefined
  /** Takes the place of the request's. 0 looks and charges nothing. What cannot be a cost is the largest that can. */
  readonly hitsAddend?: number | undefined
}

export interface WireEntry {
  readonly key: string
  readonly value: string
}

export interface Override {
  readonly requestsPerUnit: number
  /** A place in UNITS. */
  readonly unit: number
}

export interface RateLimitResponse {
  readonly overall: Code
  readonly statuses: readonly Status[]
  /** For Envoy to add to the response of whoever asked it. */
  readonly headers?: readonly WireEntry[] | undefined
}

export interface Status {
  readonly code: Code
  /** Absent where no rule applied. Envoy tells its callers of no limit without it. */
  readonly currentLimit?: WireLimit | undefined
  readonly limitRemaining: number
  readonly resetMs?: number | undefined
}

export interface WireLimit extends Override {
  readonly name?: string | undefined
}

export type Code = typeof OK | typeof OVER_LIMIT
export const OK = 1
export const OVER_LIMIT = 2

/** Envoy's names by Envoy's numbers. */
export const CODES = ['UNKNOWN', 'OK', 'OVER_LIMIT'] as const
export const UNITS = ['UNKNOWN', 'SECOND', 'MINUTE', 'HOUR', 'DAY', 'MONTH', 'YEAR', 'WEEK'] as const
