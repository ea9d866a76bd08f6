import { RlsError, type RlsRequest, type RlsResponse, type RlsStatus } from 'sluice/rules'
import { GrpcError } from '../rls/grpc/grpc-status.ts'
import { OK, OVER_LIMIT, type RateLimitRequest, type RateLimitResponse, type Status } from '../rls/service.ts'

/** What the wire carries is what the rules are asked: a member that is undefined is one that is not there. */
export function questionOf(request: RateLimitRequest): RlsRequest {
  return request as RlsRequest
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
