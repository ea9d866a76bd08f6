import { GrpcError } from './grpc-status.ts'

const MS_PER_UNIT: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 }

/** How long the caller waits, from a `grpc-timeout` such as `20m` or `19999u`; Infinity without one. */
export function timeoutMs(header: string | undefined): number {
  if (header === undefined) return Infinity
  const [, digits, unit] = /^(\d{1,8})([HMSmun])$/.exec(header) ?? []
  if (digits === undefined) {
    throw new GrpcError(
      'INVALID_ARGUMENT',
      `expected a grpc-timeout of up to 8 digits and one of HMSmun, got ${header}`,
    )
  }
  return Number(digits) * MS_PER_UNIT[unit!]!
}
