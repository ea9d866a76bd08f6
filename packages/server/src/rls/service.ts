import type { Awaitable } from '../awaitable.ts'
/**
 * Envoy's requests and the answers, the same over gRPC and as JSON.
 *
 * A request that gets here is well-formed: it has a domain and a descriptor, every descriptor has an entry, every entry
 * has a key, and the unit of an override is a real one. An answer has one status for each descriptor, in order. A service
 * that cannot answer throws or rejects with an error that carries a gRPC status (`GrpcError`). No answer may have the code
 * UNKNOWN, since Envoy would let the request pass.
 */
export interface RateLimitService {
  shouldRateLimit(request: RateLimitRequest): Awaitable<RateLimitResponse>
}

export interface RateLimitRequest {
  readonly domain: string
  readonly descriptors: readonly Descriptor[]
  /** 0 if the caller sent none. */
  readonly hitsAddend: number
}

export interface Descriptor {
  readonly entries: readonly WireEntry[]
  /** Replaces the limit in the rules. */
  readonly limit?: Override | undefined
  /** Replaces the request's hits. 0 only looks and charges nothing. A number too large becomes the largest cost. */
  readonly hitsAddend?: number | undefined
}

export interface WireEntry {
  readonly key: string
  readonly value: string
}

export interface Override {
  readonly requestsPerUnit: number
  /** An index into UNITS. */
  readonly unit: number
}

export interface RateLimitResponse {
  readonly overall: Code
  readonly statuses: readonly Status[]
  /** Headers that Envoy adds to the response for its client. */
  readonly headers?: readonly WireEntry[] | undefined
}

export interface Status {
  readonly code: Code
  /** Missing if no rule applied. Envoy then tells its callers no limit. */
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

/** Envoy's names of units, in the order of its numbers. */
export const CODES = ['UNKNOWN', 'OK', 'OVER_LIMIT'] as const
export const UNITS = ['UNKNOWN', 'SECOND', 'MINUTE', 'HOUR', 'DAY', 'MONTH', 'YEAR', 'WEEK'] as const
