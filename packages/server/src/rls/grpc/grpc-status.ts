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

/** The caller is told the status and the message, so neither may give anything away. */
export class GrpcError extends Error {
  override readonly name = 'GrpcError'
  readonly grpc: GrpcStatus

  constructor(grpc: GrpcStatus, message: string) {
    super(message)
    this.grpc = grpc
  }
}

/** What the caller may know of an error: all of one that carries a status, and of any other that there was one. */
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

/** Clients limit the headers they take, and the first words say it. */
const LONGEST_MESSAGE = 500

/** A message as a header can carry it: printable ASCII, all else as the percent-encoded bytes of UTF-8. */
export function headerText(message: string): string {
  const short = message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE - 1)}…` : message
  return short.replace(/[^ -$&-~]+/g, run => Buffer.from(run).toString('hex').toUpperCase().replace(/../g, '%$&'))
}
