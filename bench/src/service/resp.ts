import { ask, type RedisServer, startRedis } from 'sluice-harness'
import type { BenchCase } from '../bench-case.ts'
import type { Contestant, Gauge } from '../entrant.ts'
import { measure, ranked, type Settings } from '../harness.ts'
import { type Keys, keysOf } from '../keys.ts'
import { print } from '../report.ts'
import { framesOf, GCRA_SCRIPT } from './resp-frames.ts'
import { RespLoad } from './resp-load.ts'
import { startService } from './service.ts'

const KEYS = 10_000
const CONNECTIONS = 50
/** A limit that admits every call and keeps no key idle, so that every call reads and writes state. */
const LIMIT = ['1000000', '1', '1']

/** CL.THROTTLE compared with a script on a Redis server that does the same, and with the cheapest command. */
export const respCases: readonly BenchCase[] = [respCase('RESP', 1), respCase('RESP, pipelined', 16)]

function respCase(title: string, pipeline: number): BenchCase {
  const name = `${title} ×${pipeline}, ${CONNECTIONS} connections, ${KEYS.toLocaleString('en-US')} keys`
  return { name, run: settings => run(name, pipeline, settings) }
}

async function run(name: string, pipeline: number, settings: Settings): Promise<void> {
  const site = new RespSite(pipeline)
  try {
    const redis = await site.redis()
    const ours = [await site.ours(), await site.ours()]
    const script = String(await redis.command('SCRIPT', 'LOAD', GCRA_SCRIPT))
    const byScript = (key: string) => ['EVALSHA', script, '1', key, ...LIMIT]
    const byIncr = (key: string) => ['INCR', `count:${key}`]
    const measured = await measure(
      {
        sluice: () => ours.pop()!,
        peers: [await site.contestant('redis-server, GCRA script', redis.port, 6, byScript)],
        references: [await site.contestant('redis-server, INCR', redis.port, 1, byIncr)],
        fill: KEYS,
        gauge: site,
      },
      settings,
    )
    const rates = ranked(measured, one => one.rates, 'more')
    print({ bench: 'service', case: name, unit: 'decisions/s', better: 'more', ...rates })
    const cpu = ranked(measured, one => one.readings.serverUs!, 'less')
    print({ bench: 'service', case: `${name}: server CPU`, unit: 'µs/decision', better: 'less', ...cpu })
  } finally {
    await site.close()
  }
}

/** The servers of a case, each in its own process, and one load generator for all of them: this process. */
class RespSite implements Gauge {
  private readonly keys: Keys = keysOf(KEYS)
  private readonly pipeline: number
  private readonly latenciesMs: number[] = []
  private readonly closers: (() => unknown)[] = []
  private usedUs = 0

  constructor(pipeline: number) {
    this.pipeline = pipeline
  }

  async redis(): Promise<RedisServer> {
    const redis = await startRedis()
    this.closers.push(() => redis.stop())
    return redis
  }

  async ours(): Promise<Contestant> {
    const service = await startService()
    this.closers.push(() => service.stop())
    return this.contestant('sluice, CL.THROTTLE', service.resp, 6, key => ['CL.THROTTLE', key, ...LIMIT])
  }

  async contestant(
    name: string,
    port: number,
    lines: number,
    command: (key: string) => readonly string[],
  ): Promise<Contestant> {
    const { pipeline, keys, latenciesMs } = this
    const frames = framesOf(keys, pipeline, command)
    const fill = Math.ceil(KEYS / pipeline)
    const load = await RespLoad.to({ port, connections: CONNECTIONS, pipeline, frames, fill, lines, latenciesMs })
    this.closers.push(() => load.close())
    const run = async (count: number) => {
      const before = await cpuUs(port)
      const admitted = await load.send(count)
      this.usedUs = (await cpuUs(port)) - before
      return admitted
    }
    return { name, ways: { commands: run } }
  }

  async start(): Promise<void> {
    this.latenciesMs.length = 0
  }

  /** What a decision cost the server, and how long a pipeline took, to the last of its replies. */
  async stop(decisions: number) {
    const sorted = this.latenciesMs.toSorted((a, b) => a - b)
    const quantileUs = (share: number) => 1000 * sorted[Math.ceil(sorted.length * share) - 1]!
    return { serverUs: this.usedUs / decisions, p50Us: quantileUs(0.5), p99Us: quantileUs(0.99) }
  }

  async close(): Promise<void> {
    for (const close of this.closers.reverse()) await close()
  }
}

/** The CPU time that a server has used so far, by INFO, which the service answers as Redis does. */
async function cpuUs(port: number): Promise<number> {
  const info = String(await ask({ host: '127.0.0.1', port }, ['INFO', 'cpu']))
  let seconds = 0
  for (const [, used] of info.matchAll(/^used_cpu_(?:user|sys):([\d.]+)/gm)) seconds += Number(used)
  return seconds * 1e6
}
