import { RlsError, type RlsRequest, type RlsResponse, type RlsStatus } from 'sluice/rules'
import { GrpcError } from '../rls/grpc-status.ts'
import { OK, OVER_LIMIT, type RateLimitRequest, type RateLimitResponse, type Status } from '../rls/service.ts'

/** From what the wire carries to what the rules are asked. */
export function questionOf({ domain, descriptors, hitsAddend }: RateLimitRequest): RlsRequest {
  return {
    domain,
    hitsAddend,
    descriptors: descriptors.map(({ entries, limit, hitsAddend: own }) => ({
      entries,
      ...(limit !== undefined && { limit }),
      ...(own !== undefined && { hitsAddend: own }),
    })),
  }
}

export function answerOf({ overall, statuses }: RlsResponse): RateLimitResponse {
  return { overall: overall === 'OK' ? OK : OVER_LIMIT, statuses: statuses.map(statusOf) }
}

function statusOf({ code, currentLimit, limitRemaining = 0, durationUntilResetMs }: RlsStatus): Status {
  return {
    code: code === 'OK' ? OK : OVER_LIMIT,
    currentLimit,
    limitRemaining,
    resetMs: durationUntilResetMs,
  }
}

/** A bad request as gRPC tells it; anything else is left as it is. */
export function told(error: unknown): unknown {
  if (!(error instanceof RlsError)) return error
  return new GrpcError(error.kind === 'InvalidArgument' ? 'INVALID_ARGUMENT' : 'UNAVAILABLE', error.message)
}
