/** The statuses of gRPC that this server answers with. */
export const GRPC_STATUS = {
  OK: 0,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  RESOURCE_EXHAUSTED: 8,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const

export type GrpcStatus = Exclude<keyof typeof GRPC_STATUS, 'OK'>

/** The caller gets the status and the message, so the message must not contain internals. */
export class GrpcError extends Error {
  override readonly name = 'GrpcError'
  readonly grpc: GrpcStatus

  constructor(grpc: GrpcStatus, message: string) {
    super(message)
    this.grpc = grpc
  }
}

/** The error for the caller: one with a status as it is; any other becomes INTERNAL without its text. */
export function toldOf(error: unknown): GrpcError {
  if (error instanceof GrpcError) return error
  const { grpc } = Object(error) as { grpc?: unknown }
  if (error instanceof Error && isStatus(grpc)) return new GrpcError(grpc, error.message)
  return new GrpcError('INTERNAL', 'the request could not be answered')
}

export function isTold(error: unknown): boolean {
  return isStatus((Object(error) as { grpc?: unknown }).grpc)
}

function isStatus(name: unknown): name is GrpcStatus {
  return typeof name === 'string' && name !== 'OK' && Object.hasOwn(GRPC_STATUS, name)
}

/** Clients limit the size of headers, so long messages are cut. */
const LONGEST_MESSAGE = 500

/** A message as a header can carry it: printable ASCII, all else as the percent-encoded bytes of UTF-8. */
export function headerText(message: string): string {
  const short = message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE - 1)}…` : message
  return short.replace(/[^ -$&-~]+/g, run => Buffer.from(run).toString('hex').toUpperCase().replace(/../g, '%$&'))
}
