import { decodeRequest } from '../request-wire.ts'
import { encodeResponse } from '../response-wire.ts'
import type { RateLimitService } from '../service.ts'
import type { Method } from './grpc-call.ts'
import type { Health } from './health.ts'

/** The methods by path. */
export function methodsOf(service: RateLimitService, health: Health): ReadonlyMap<string, Method> {
  return new Map<string, Method>([
    [
      '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit',
      message => {
        const response = service.shouldRateLimit(decodeRequest(message))
        return response instanceof Promise ? response.then(encodeResponse) : encodeResponse(response)
      },
    ],
    ['/grpc.health.v1.Health/Check', message => health.check(message)],
    [
      '/grpc.health.v1.Health/Watch',
      (message, call) => {
        health.watch(message, call)
        return undefined
      },
    ],
  ])
}
