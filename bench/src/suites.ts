import type { Suite } from './bench-case.ts'
import type { Settings } from './harness.ts'

/** Many short rounds, so that other work of the machine slows all contestants of a round alike. */
const MANY_SHORT: Settings = { rounds: 150, sliceMs: 50 }
/** Longer slices: two processes with many connections take a while to reach their full speed. */
const FEW_LONG: Settings = { rounds: 21, sliceMs: 200 }
/** Sizes do not vary: once is enough. */
const ONCE: Settings = { rounds: 1, sliceMs: 1 }

/** A minute against a limited server. The rounds are its windows. */
const ONE_MINUTE: Settings = { rounds: 1, sliceMs: 60_000 }
const TEN_SECONDS: Settings = { rounds: 1, sliceMs: 10_000 }

export const suites: Readonly<Record<string, Suite>> = {
  client: {
    settings: ONE_MINUTE,
    packages: ['undici', 'got', 'ky', 'p-throttle', 'bottleneck'],
    usesRedis: true,
    load: async () => (await import('./client/suite.ts')).cases,
  },
  http: {
    settings: MANY_SHORT,
    packages: [
      ...['express', 'express-rate-limit', 'fastify', '@fastify/rate-limit', 'hono', 'hono-rate-limiter'],
      'rate-limiter-flexible',
    ],
    load: async () => (await import('./http/suite.ts')).cases,
  },
  memory: {
    settings: MANY_SHORT,
    packages: ['rate-limiter-flexible', 'express-rate-limit', '@fastify/rate-limit', 'limiter'],
    takesAgainst: true,
    load: async () => (await import('./memory/suite.ts')).cases,
  },
  redis: {
    settings: FEW_LONG,
    packages: ['ioredis', 'redis', 'rate-limiter-flexible', 'rate-limit-redis'],
    usesRedis: true,
    load: async () => (await import('./redis/suite.ts')).cases,
  },
  service: {
    settings: FEW_LONG,
    packages: ['@grpc/grpc-js'],
    usesRedis: true,
    load: async () => (await import('./service/suite.ts')).cases,
  },
  size: {
    settings: ONCE,
    packages: ['esbuild'],
    takesAgainst: true,
    load: async () => (await import('./size/suite.ts')).cases,
  },
  studio: { settings: TEN_SECONDS, packages: [], load: async () => (await import('./studio/suite.ts')).cases },
}
