import { ProtobufReader } from '../protobuf-reader.ts'
import { ProtobufWriter } from '../protobuf-writer.ts'
import { GrpcError } from './grpc-status.ts'

/** '' is the whole server. The other is the name that envoyproxy/ratelimit uses, so that existing probes keep working. */
const SERVICES: readonly string[] = ['', 'ratelimit']

/** The statuses of grpc.health.v1.HealthCheckResponse. */
export const SERVING = 1
export const NOT_SERVING = 2
export const SERVICE_UNKNOWN = 3

/** Receives the health: first the current status, then each change. */
export interface Watcher {
  send(frame: Buffer): void
  fail(why: GrpcError): void
  whenGone(callback: () => void): void
}

/** grpc.health.v1: the server reports SERVING until it drains. */
export class Health {
  private isServing = true
  private readonly watchers = new Map<Watcher, string>()

  /** The answer to Check. */
  check(request: Buffer): Buffer {
    const service = serviceIn(request)
    if (!SERVICES.includes(service)) throw new GrpcError('NOT_FOUND', 'there is no service of this name')
    return frameOf(this.statusOf(service))
  }

  /** The answer to Watch. Watching an unknown service is not an error, since the service may come. */
  watch(request: Buffer, watcher: Watcher): void {
    const service = serviceIn(request)
    this.watchers.set(watcher, service)
    watcher.whenGone(() => this.watchers.delete(watcher))
    watcher.send(frameOf(this.statusOf(service)))
  }

  /** Reports NOT_SERVING from now on. Ends all watches, since a watch would keep its connection open for ever. */
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

/** Reads a grpc.health.v1.HealthCheckRequest, whose only field is the name of the service. */
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
