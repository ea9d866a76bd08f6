import { createLimiter, leakyBucket } from 'sluice'
import { createFetch, shape } from 'sluice/client'
import { startRedis } from 'sluice-harness'
import type { BenchCase } from '../bench-case.ts'
import { nextMessage, startBeside } from '../child.ts'
import { compare, type Settings } from '../harness.ts'
import { print } from '../report.ts'

const PROCESSES = 4
const PER_SECOND = 14
const WAITERS = 100_000

const pacedCase: BenchCase = {
  name: '14 a second over four processes through Redis',
  async run({ sliceMs }: Settings) {
    const redis = await startRedis()
    try {
      const each = Math.floor((PER_SECOND * sliceMs) / 1000 / PROCESSES)
      const args = [String(redis.port), String(each)]
      const children = Array.from({ length: PROCESSES }, () => startBeside(import.meta.url, 'shaped-process', args))
      await Promise.all(children.map(child => nextMessage(child)))
      for (const child of children) child.send('go')
      const starts = (await Promise.all(children.map(child => nextMessage<number[]>(child))))
        .flat()
        .sort((a, b) => a - b)
      // No start comes before its slot, so the first slot is no later than any start allows.
      const slot = (n: number) => (n * 1000) / PER_SECOND
      const first = Math.min(...starts.map((at, n) => at - slot(n)))
      const late = starts.map((at, n) => at - first - slot(n)).sort((a, b) => a - b)
      const within = late.filter(ms => ms <= 20).length / late.length
      const readings = { 'p50 late ms': late[late.length >> 1]!, 'worst late ms': late.at(-1)!, starts: starts.length }
      const rows = [{ name: 'sluice', role: 'sluice' as const, value: 100 * within, readings }]
      print({ bench: 'client', case: this.name, unit: '% within 20 ms of their slot', better: 'more', rows, aa: null })
    } finally {
      await redis.stop()
    }
  },
}

const timers = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length

const waitersCase: BenchCase = {
  name: '100,000 who wait',
  async run() {
    const policy = leakyBucket({ capacity: 1_000_000, leak: '1/s' })
    const limiter = createLimiter(policy)
    const shaped = shape(() => {}, { policy, maxBacklog: 2 * WAITERS })
    const rows = [
      await weigh('limiter.wait', () => limiter.wait('a')),
      await weigh('a call of shape()', () => shaped()),
    ].map(row => ({ ...row, role: 'sluice' as const }))
    print({ bench: 'client', case: this.name, unit: 'bytes each', better: 'less', rows, aa: null })
  },
}

async function weigh(name: string, wait: () => Promise<unknown>) {
  await wait()
  const kept: Promise<unknown>[] = new Array(WAITERS)
  globalThis.gc?.()
  const before = { bytes: process.memoryUsage().heapUsed, timers: timers() }
  const times: number[] = []
  for (let i = 0; i < WAITERS; i++) {
    const at = performance.now()
    kept[i] = wait()
    times.push(performance.now() - at)
  }
  await new Promise(resolve => setTimeout(resolve, 100))
  const mean = (from: number, to: number) => times.slice(from, to).reduce((sum, ms) => sum + ms, 0) / (to - from)
  const readings = {
    'µs, first tenth': 1000 * mean(0, WAITERS / 10),
    'µs, last tenth': 1000 * mean(WAITERS * 0.9, WAITERS),
  }
  times.length = 0
  globalThis.gc?.()
  const bytes = (process.memoryUsage().heapUsed - before.bytes) / WAITERS
  return { name, value: bytes, readings: { ...readings, timers: timers() - before.timers } }
}

const overheadCase: BenchCase = {
  name: 'a call when nothing is limited',
  async run(settings: Settings) {
    const headers = { Date: new Date().toUTCString(), 'Content-Type': 'application/json', 'Content-Length': '2' }
    const response = new Response('{}', {
      headers: { ...headers, Connection: 'keep-alive', ETag: '"a"', Vary: 'Accept' },
    })
    const bare = async () => response
    const run = (fetch: (url: string) => Promise<Response>) => async (count: number) => {
      let ok = 0
      for (let i = 0; i < count; i++) ok += Number((await fetch('http://127.0.0.1:8080/things/7')).ok)
      return ok
    }
    const { rows, aa } = await compare(
      {
        sluice: () => ({
          name: 'createFetch over a fetch that answers at once',
          ways: { call: run(createFetch({ fetch: bare })) },
        }),
        references: [{ name: 'the fetch that answers at once', ways: { call: run(bare) } }],
        fill: 1,
      },
      { rounds: 21, sliceMs: Math.min(settings.sliceMs, 50) },
    )
    print({ bench: 'client', case: this.name, unit: 'calls/s', better: 'more', rows, aa })
  },
}

export const shapingCases: readonly BenchCase[] = [pacedCase, waitersCase, overheadCase]
