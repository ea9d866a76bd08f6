// A process that holds this many live keys: node ten-million-probe.ts <keys>. It loads only Sluice, because it reports
// all of its resident memory.
import { createLimiter, memoryStore, tokenBucket } from 'sluice'
import { answer, endWithParent } from '../child.ts'
import { keysOf } from '../keys.ts'

export interface Seen {
  readonly residentMb: number
  readonly grownMb: number
  readonly worstMs: number
  readonly worstAtKey: number
  readonly fillRate: number
  readonly steadyRate: number
  /** The worst gap of the same loop without a limiter, due to the machine and the garbage collector. */
  readonly idleWorstMs: number
}

const MB = 2 ** 20

endWithParent()
answer(look(Number(process.argv[2])))

/** Fills a store and times every decision, then asks for random keys of the full store without timing each. */
function look(keys: number): Seen {
  // One token a quarter of an hour: all keys stay live however slowly this runs.
  const limiter = createLimiter(tokenBucket({ capacity: 100, refill: '100/d' }), {
    store: memoryStore({ maxKeys: 2 ** 24 }),
  })
  const idle = timeEach(keys, key => key.length > 0)
  globalThis.gc!()
  const rssBefore = process.memoryUsage().rss

  const fill = timeEach(keys, key => limiter.consume(key).allowed)
  if (fill.admitted !== keys) throw new Error(`${keys - fill.admitted} fresh keys were refused`)
  globalThis.gc!()
  const { rss } = process.memoryUsage()

  // Allocated only now, because it is as large as the store.
  const order = keysOf(keys).order.subarray(keys)
  const startedAt = performance.now()
  let admitted = 0
  const decisions = Math.min(order.length, 3_000_000)
  for (let i = 0; i < decisions; i++) if (limiter.consume(`user:${order[i]}`).allowed) admitted++
  const steadyMs = performance.now() - startedAt
  if (admitted === 0) throw new Error('everything was refused')

  return {
    residentMb: rss / MB,
    grownMb: (rss - rssBefore) / MB,
    worstMs: fill.worstMs,
    worstAtKey: fill.worstAtKey,
    fillRate: (keys / fill.totalMs) * 1000,
    steadyRate: (decisions / steadyMs) * 1000,
    idleWorstMs: idle.worstMs,
  }
}

function timeEach(keys: number, decide: (key: string) => boolean) {
  let admitted = 0
  let worstMs = 0
  let worstAtKey = 0
  const startedAt = performance.now()
  for (let i = 0; i < keys; i++) {
    const key = `user:${i}`
    const before = performance.now()
    if (decide(key)) admitted++
    const ms = performance.now() - before
    if (ms > worstMs) {
      worstMs = ms
      worstAtKey = i
    }
  }
  return { admitted, worstMs, worstAtKey, totalMs: performance.now() - startedAt }
}
