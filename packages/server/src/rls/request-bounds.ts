import { GrpcError } from './grpc/grpc-status.ts'
import { type Descriptor, type RateLimitRequest, UNITS } from './service.ts'

/** Envoy makes one descriptor for each list of actions on a route: tens in a large configuration. */
export const MOST_DESCRIPTORS = 1000
/** Entries of one descriptor. Each is a level of the rules. */
export const MOST_ENTRIES = 100

/** Returns the request if it is well-formed; throws otherwise. */
export function wellFormed(request: RateLimitRequest): RateLimitRequest {
  if (request.domain === '') throw new GrpcError('INVALID_ARGUMENT', 'expected a domain, got an empty one')
  if (request.descriptors.length === 0) throw new GrpcError('INVALID_ARGUMENT', 'expected a descriptor, got none')
  for (const descriptor of request.descriptors) checkDescriptor(descriptor)
  return request
}

function checkDescriptor({ entries, limit }: Descriptor): void {
  if (entries.length === 0) {
    throw new GrpcError('INVALID_ARGUMENT', 'expected an entry in every descriptor, got a descriptor without')
  }
  for (const { key } of entries) {
    if (key === '') throw new GrpcError('INVALID_ARGUMENT', 'expected a key in every entry, got an empty one')
  }
  if (limit === undefined || (limit.unit > 0 && limit.unit < UNITS.length)) return
  const got = limit.unit === 0 ? 'UNKNOWN' : limit.unit
  throw new GrpcError('INVALID_ARGUMENT', `expected ${UNITS.slice(1).join(', ')} as the unit of a limit, got ${got}`)
}

export function tooMany(what: string, most: number): GrpcError {
  return new GrpcError('INVALID_ARGUMENT', `expected at most ${most} ${what}, got more`)
}
