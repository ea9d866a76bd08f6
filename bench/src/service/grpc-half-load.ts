import { startRedis } from 'sluice-harness'
import type { BenchCase } from '../bench-case.ts'
import type { Settings } from '../harness.ts'
import { print } from '../report.ts'
import { median, quantilesUs } from '../statistics.ts'
import type { GrpcLoad } from './grpc-load.ts'
import { GrpcSite } from './grpc-site.ts'

type Behind = 'the memory store' | 'a Redis' | 'a Redis that hangs'

/** Calls arrive at half the rate that the service can take, whether or not it has answered earlier ones. */
export const halfLoadCases: readonly BenchCase[] = (
  ['the memory store', 'a Redis', 'a Redis that hangs'] satisfies Behind[]
).map(behind => {
  const name = `ShouldRateLimit at half of its maximum load, ${behind} behind`
  return { name, run: settings => halfLoad(name, behind, settings) }
})

async function halfLoad(name: string, behind: Behind, settings: Settings): Promise<void> {
  const redis = behind === 'the memory store' ? undefined : await startRedis()
  const site = new GrpcSite()
  try {
    const { grpc } = await site.service(redis && ['--store', `redis://${redis.host}:${redis.port}`])
    const load = await site.load(grpc)
    const perSecond = (await mostPerSecond(load, settings)) / 2
    if (behind === 'a Redis that hangs') redis!.pause()

    load.takeLatencies()
    const p99sMs: number[] = []
    let admitted = 0
    for (let round = 0; round < settings.rounds; round++) {
      admitted += await load.pace(perSecond, settings.sliceMs)
      p99sMs.push(quantilesUs(load.takeLatencies()).p99Us / 1000)
    }
    const worst = Math.max(...p99sMs)
    const note = `${figure(perSecond)}/s, ${figure(admitted)} admitted; in the worst round ${worst.toFixed(1)} ms`
    const rows = [{ name: 'sluice', role: 'sluice', value: median(p99sMs), note }] as const
    const extra = { perSecond: Math.round(perSecond), worst }
    print({ bench: 'service', case: name, unit: 'ms, p99', better: 'less', rows, aa: null, extra })
  } finally {
    site.close()
    await redis?.stop()
  }
}

/** The median of several slices, after the same number to warm up. */
async function mostPerSecond(load: GrpcLoad, { rounds, sliceMs }: Settings): Promise<number> {
  const rates: number[] = []
  let calls = 1000
  for (let slice = 0; slice < 2 * rounds; slice++) {
    const startedAt = performance.now()
    await load.send(calls)
    const rate = (calls / (performance.now() - startedAt)) * 1000
    calls = Math.ceil((rate * sliceMs) / 1000)
    if (slice >= rounds) rates.push(rate)
  }
  return median(rates)
}

function figure(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}
