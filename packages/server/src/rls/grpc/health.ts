import { ProtobufReader } from '../protobuf-reader.ts'
import { ProtobufWriter } from '../protobuf-writer.ts'
import { GrpcError } from './grpc-status.ts'

/** '' is the server as a whole; the other is what envoyproxy/ratelimit calls itself, so that probes need no change. */
const SERVICES: readonly string[] = ['', 'ratelimit']

/** Of grpc.health.v1.HealthCheckResponse. */
export const SERVING = 1
export const NOT_SERVING = 2
export const SERVICE_UNKNOWN = 3

/** Where a watcher hears of the health: first as it is, then of each change until the end. */
export interface Watcher {
  send(frame: Buffer): void
  fail(why: GrpcError): void
  whenGone(callback: () => void): void
}

/** grpc.health.v1: the server is well until it is told to go. */
export class Health {
  private isServing = true
  private readonly watchers = new Map<Watcher, string>()

  /** The answer to Check. */
  check(request: Buffer): Buffer {
    const service = serviceIn(request)
    if (!SERVICES.includes(service)) throw new GrpcError('NOT_FOUND', 'there is no service of this name')
    return frameOf(this.statusOf(service))
  }

  /** The answer to Watch. To ask for a service that is not there is no fault: it may come. */
  watch(request: Buffer, watcher: Watcher): void {
    const service = serviceIn(request)
    this.watchers.set(watcher, service)
    watcher.whenGone(() => this.watchers.delete(watcher))
    watcher.send(frameOf(this.statusOf(service)))
  }

  /** From now on NOT_SERVING. Watchers are told, and let go, because a watch would hold its connection for ever. */
  leave(): void {
    this.isServing = false
    for (const [watcher, service] of this.watchers) {
      watcher.send(frameOf(this.statusOf(service)))
      watcher.fail(new GrpcError('UNAVAILABLE', 'the server is shutting down'))
    }
    this.watchers.clear()
  }

  private statusOf(service: string): number {
    if (!SERVICES.includes(service)) return SERVICE_UNKNOWN
    return this.isServing ? SERVING : NOT_SERVING
  }
}

/** A grpc.health.v1.HealthCheckRequest has nothing but the service's name. */
function serviceIn(request: Buffer): string {
  const reader = new ProtobufReader(request)
  let service = ''
  while (!reader.isAtEnd) {
    const tag = reader.tag()
    if (tag === 0o12) service = reader.string()
    else reader.skip(tag)
  }
  return service
}

function frameOf(status: number): Buffer {
  const writer = new ProtobufWriter()
  writer.number(1, status)
  return writer.takeFrame()
}
