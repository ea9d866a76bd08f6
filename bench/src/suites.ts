import type { Suite } from './bench-case.ts'
import type { Settings } from './harness.ts'

/** Many rounds, so short that whatever else the machine does slows all contestants of a round alike. */
const MANY_SHORT: Settings = { rounds: 150, sliceMs: 50 }
/** For processes at both ends of many connections, which take a while to reach their speed. */
const FEW_LONG: Settings = { rounds: 21, sliceMs: 200 }
/** Sizes do not vary: once is enough. */
const ONCE: Settings = { rounds: 1, sliceMs: 1 }

/** How much a limited server serves in a minute: its windows are the rounds. */
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
