import { setImmediate as turn } from 'node:timers/promises'

export interface Growth {
  /** Heap and external memory, in bytes. */
  readonly bytes: number
  /** Resident set, in bytes; coarse, since the allocator gives pages back when it likes. */
  readonly rssBytes: number
}

const WARM_UPS = 4

let kept: unknown

/**
 * How much more memory is in use after `build` than before it, everything collectable collected. The small builds
 * first: compiled code, caches and a grown young generation are the price of the first keys, not of all.
 */
export async function growthOf(build: (size: number) => unknown, size: number): Promise<Growth> {
  for (let i = 0; i < WARM_UPS; i++) await build(Math.min(size, 20_000))
  const before = await settled()
  kept = await build(size)
  const grown = await settled()
  if (kept === undefined) throw new Error('build must return what it built, or it is collected before it is weighed')
  return { bytes: grown.bytes - before.bytes, rssBytes: grown.rssBytes - before.rssBytes }
}

async function settled(): Promise<Growth> {
  // Buffers are freed after the collection that found them, so one pass is not enough.
  for (let pass = 0; pass < 4; pass++) {
    globalThis.gc!()
    await turn()
  }
  const { heapUsed, external, rss } = process.memoryUsage()
  // `external` already has `arrayBuffers` in it: adding that as well would count typed arrays twice.
  return { bytes: heapUsed + external, rssBytes: rss }
}
