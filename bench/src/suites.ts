import type { Settings } from './harness.ts'

/** One case is one fresh process, so that what the compiler learnt in one does not slow the next. */
export interface BenchCase {
  readonly name: string
  readonly run: (settings: Settings) => Promise<void>
}

/** Loaded on demand: a suite may need a server or a package that the others do not. */
export const suites: Readonly<Record<string, () => Promise<readonly BenchCase[]>>> = {
  http: async () => (await import('./http/suite.ts')).cases,
  memory: async () => (await import('./memory/suite.ts')).cases,
  redis: async () => (await import('./redis/suite.ts')).cases,
  service: async () => (await import('./service/suite.ts')).cases,
}
