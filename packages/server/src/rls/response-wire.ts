import { duration, uint32 } from './carried-numbers.ts'
import { ProtobufWriter } from './protobuf-writer.ts'
import type { RateLimitResponse, Status, WireEntry, WireLimit } from './service.ts'

/** One writer for all messages, since each is written without a pause. It is cleared first, in case the last write threw. */
const writer = new ProtobufWriter()

/** An envoy.service.ratelimit.v3.RateLimitResponse as a gRPC message. */
export function encodeResponse({ overall, statuses, headers }: RateLimitResponse): Buffer {
  writer.clear()
  if (headers !== undefined) for (let i = headers.length - 1; i >= 0; i--) writeHeader(headers[i]!)
  for (let i = statuses.length - 1; i >= 0; i--) writeStatus(statuses[i]!)
  writer.number(1, overall)
  return writer.takeFrame()
}

function writeHeader({ key, value }: WireEntry): void {
  const before = writer.size
  writer.text(2, value)
  writer.text(1, key)
  writer.message(3, before)
}

function writeStatus({ code, currentLimit, limitRemaining, resetMs }: Status): void {
  const before = writer.size
  if (resetMs !== undefined) writeReset(resetMs)
  writer.number(3, uint32(limitRemaining))
  if (currentLimit !== undefined) writeLimit(currentLimit)
  writer.number(1, code)
  writer.message(2, before)
}

function writeLimit({ requestsPerUnit, unit, name }: WireLimit): void {
  const before = writer.size
  if (name !== undefined) writer.text(3, name)
  writer.number(2, unit)
  writer.number(1, uint32(requestsPerUnit))
  writer.message(2, before)
}

function writeReset(ms: number): void {
  const before = writer.size
  const { seconds, nanos } = duration(ms)
  writer.number(2, nanos)
  writer.number(1, seconds)
  writer.message(4, before)
}
