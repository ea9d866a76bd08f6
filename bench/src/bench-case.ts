import type { Settings } from './harness.ts'

/** Every case runs in a fresh process, so that what the compiler learnt in one does not slow the next. */
export interface BenchCase {
  readonly name: string
  readonly run: (settings: Settings) => Promise<void>
}

export interface Suite {
  /** The defaults, if the command line does not set others. */
  readonly settings: Settings
  /** The packages it runs Sluice beside or through: a figure without their versions says little. */
  readonly packages: readonly string[]
  /** Whether it measures a Redis server. */
  readonly usesRedis?: boolean
  /** Whether it can measure the build of another checkout beside this one. */
  readonly takesAgainst?: boolean
  /** Loaded on demand: a suite may need a server or a package that the others do not. */
  readonly load: () => Promise<readonly BenchCase[]>
}
