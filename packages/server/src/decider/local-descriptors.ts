import { type Rls, RlsError, type RlsRequest, type RlsResponse, type RlsStatus } from 'sluice/rules'
import type { Awaitable } from '../awaitable.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { uint32 } from '../rls/carried-numbers.ts'
import { GrpcError } from '../rls/grpc/grpc-status.ts'
import {
  OK,
  OVER_LIMIT,
  type RateLimitRequest,
  type RateLimitResponse,
  type RateLimitService,
  type Status,
  type WireEntry,
} from '../rls/service.ts'

/** Events for probable mistakes in Envoy's requests. They are raised every time. */
export interface DescriptorsEvents {
  noRules(): void
  unknownDomain(domain: string): void
}

/** The names of the headers that Envoy adds to its responses. */
export interface HeaderNames {
  readonly limit: string
  readonly remaining: string
  readonly reset: string
}

/** Envoy's rate limit service under the descriptor files that are loaded. */
export class LocalDescriptors implements RateLimitService {
  private readonly metrics: Metrics
  private readonly on: DescriptorsEvents
  private readonly headers: HeaderNames | undefined
  private rules: Rls | undefined

  constructor(metrics: Metrics, on: DescriptorsEvents, headers?: HeaderNames) {
    this.metrics = metrics
    this.on = on
    this.headers = headers
  }

  replace(rules: Rls | undefined): void {
    this.rules = rules
  }

  shouldRateLimit(request: RateLimitRequest): Awaitable<RateLimitResponse> {
    if (this.rules === undefined) {
      this.on.noRules()
      throw new GrpcError(
        'UNAVAILABLE',
        'no rules for Envoy are loaded: start the service with --envoy <file or folder>',
      )
    }
    const startedAt = performance.now()
    if (!this.rules.domains.has(request.domain)) {
      this.metrics.domainNotFound()
      this.on.unknownDomain(request.domain)
    }
    const answered = (response: RlsResponse) => {
      this.metrics.took((performance.now() - startedAt) / 1000)
      return answerOf(response, this.headers)
    }
    const failed = (error: unknown): never => {
      throw told(error)
    }
    try {
      const answer = this.rules.shouldRateLimit(questionOf(request))
      return answer instanceof Promise ? answer.then(answered, failed) : answered(answer)
    } catch (error) {
      return failed(error)
    }
  }
}

/** Both types describe the same request. They differ only in that here a missing property may be undefined. */
export function questionOf(request: RateLimitRequest): RlsRequest {
  return request as RlsRequest
}

function answerOf({ overall, statuses }: RlsResponse, names: HeaderNames | undefined): RateLimitResponse {
  const answer = { overall: overall === 'OK' ? OK : OVER_LIMIT, statuses: statuses.map(statusOf) } as const
  return names === undefined ? answer : { ...answer, headers: headersOf(answer.statuses, names) }
}

/** The headers of the status that matters to the client: one that refuses, or else the one with the least left. */
function headersOf(statuses: readonly Status[], names: HeaderNames): WireEntry[] {
  const left = ({ code, limitRemaining }: Status) => (code === OVER_LIMIT ? -1 : limitRemaining)
  const limited = statuses.filter(({ currentLimit }) => currentLimit !== undefined)
  const [first, ...others] = limited
  if (first === undefined) return []
  const status = others.reduce((least, other) => (left(other) < left(least) ? other : least), first)
  return [
    { key: names.limit, value: `${status.currentLimit!.requestsPerUnit}` },
    { key: names.remaining, value: `${uint32(status.limitRemaining)}` },
    { key: names.reset, value: `${uint32(Math.ceil((status.resetMs ?? 0) / 1000))}` },
  ]
}

function statusOf({ code, currentLimit, limitRemaining = 0, durationUntilResetMs }: RlsStatus): Status {
  return {
    code: code === 'OK' ? OK : OVER_LIMIT,
    currentLimit,
    limitRemaining,
    resetMs: durationUntilResetMs,
  }
}

/** Turns a bad request into a gRPC error. Returns any other error unchanged. */
function told(error: unknown): unknown {
  if (!(error instanceof RlsError)) return error
  return new GrpcError(error.kind === 'InvalidArgument' ? 'INVALID_ARGUMENT' : 'UNAVAILABLE', error.message)
}
