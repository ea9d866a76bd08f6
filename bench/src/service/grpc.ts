import type { BenchCase } from '../bench-case.ts'
import { measure, ranked, type Settings } from '../harness.ts'
import { print } from '../report.ts'
import { halfLoadCases } from './grpc-half-load.ts'
import { GrpcSite, LOAD } from './grpc-site.ts'

const THROUGHPUT = `ShouldRateLimit, ${LOAD}`

/** Envoy's rate limit service compared with grpc-js and an empty handler, and how promptly it answers. */
export const grpcCases: readonly BenchCase[] = [{ name: THROUGHPUT, run: throughput }, ...halfLoadCases]

async function throughput(settings: Settings): Promise<void> {
  const site = new GrpcSite()
  try {
    const ours = [await site.ours(), await site.ours()]
    const measured = await measure(
      {
        sluice: () => ours.pop()!,
        peers: [await site.child('grpc-js, an empty handler', './grpc-empty.js', ['protos'])],
        references: [
          await site.child('grpc-js, the same without protobuf', './grpc-empty.js', ['bytes']),
          await site.child('sluice, nothing behind the door', './grpc-door.js'),
        ],
        fill: 10_000,
        gauge: site,
      },
      settings,
    )
    const rates = ranked(measured, one => one.rates, 'more')
    print({ bench: 'service', case: THROUGHPUT, unit: 'decisions/s', better: 'more', ...rates })
    const cpu = ranked(measured, one => one.readings.serverUs!, 'less')
    print({ bench: 'service', case: `${THROUGHPUT}: server CPU`, unit: 'µs/decision', better: 'less', ...cpu })
  } finally {
    site.close()
  }
}
