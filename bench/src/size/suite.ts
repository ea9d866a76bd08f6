import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import type { BenchCase } from '../bench-case.ts'
import { libraryOf, nameOf } from '../checkout.ts'
import { versionOf } from '../machine.ts'
import { print, type Row } from '../report.ts'

const HERE = fileURLToPath(new URL('../..', import.meta.url))

/** A user's smallest program with it, by the package it comes from. */
interface Subject {
  readonly name: string
  readonly sluice: string
  readonly peers: Readonly<Record<string, string>>
}

const subjects: readonly Subject[] = [
  {
    name: 'a limiter in memory',
    sluice: `import { createLimiter, slidingWindow } from 'sluice'
      export const limiter = createLimiter(slidingWindow({ limit: 100, window: '1m' }))`,
    peers: {
      'rate-limiter-flexible': `import { RateLimiterMemory } from 'rate-limiter-flexible'
        export const limiter = new RateLimiterMemory({ points: 100, duration: 60 })`,
      '@upstash/ratelimit': `import { Ratelimit } from '@upstash/ratelimit'
        export const limiter = redis => new Ratelimit({ redis, limiter: Ratelimit.slidingWindow(100, '1 m') })`,
      limiter: `import { RateLimiter } from 'limiter'
        export const limiter = new RateLimiter({ tokensPerInterval: 100, interval: 'minute' })`,
    },
  },
  {
    name: 'limits for an HTTP server in memory',
    sluice: `import { rateLimit } from 'sluice/fetch'
      export const guard = rateLimit({ policy: '100/m' })`,
    peers: {
      'express-rate-limit': `import { rateLimit } from 'express-rate-limit'
        export const guard = rateLimit({ windowMs: 60000, limit: 100 })`,
      'hono-rate-limiter': `import { rateLimiter } from 'hono-rate-limiter'
        export const guard = rateLimiter({ windowMs: 60000, limit: 100, keyGenerator: c => c.req.header('x-key') })`,
    },
  },
]

/** Bundled and minified by esbuild, then gzipped: what a browser or a worker is sent. */
export const cases: readonly BenchCase[] = subjects.map(({ name, sluice, peers }) => ({
  name,
  async run({ against }) {
    const ours = await sizeOf(sluice)
    const rows: Row[] = [{ name: 'sluice', role: 'sluice', ...shown(ours) }]
    const compared = (named: string, size: Size): Row => ({
      ...{ name: named, role: 'peer', ...shown(size) },
      ratio: size.gzipped / ours.gzipped,
    })
    if (against !== undefined)
      rows.push(compared(nameOf(against), await sizeOf(sluice, fileURLToPath(libraryOf(against, '..')))))
    for (const [peer, program] of Object.entries(peers)) {
      rows.push(compared(`${peer} ${versionOf(peer)}`, await sizeOf(program)))
    }
    print({ bench: 'size', case: name, unit: 'KB gzipped', better: 'less', rows, aa: null })
  },
}))

interface Size {
  readonly minified: number
  readonly gzipped: number
}

function shown({ minified, gzipped }: Size): Pick<Row, 'value' | 'readings'> {
  return { value: gzipped / 1000, readings: { 'KB minified': minified / 1000 } }
}

/** Resolves another checkout's library from inside its folder, since a package may import itself by name. */
async function sizeOf(program: string, resolveDir = HERE): Promise<Size> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir },
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    // Peers may use Node's own modules, which are not part of the bundle.
    platform: 'node',
    logLevel: 'error',
  })
  const bytes = outputFiles[0]!.contents
  return { minified: bytes.length, gzipped: gzipSync(bytes, { level: 9 }).length }
}
