import type { Settings } from './harness.ts'

/** One case is one fresh process, so that what the compiler learnt in one does not slow the next. */
export interface BenchCase {
  readonly name: string
  readonly run: (settings: Settings) => Promise<void>
}

export interface Suite {
  /** Unless others are asked for. */
  readonly settings: Settings
  /** Whether it can measure the build of another checkout beside this one. */
  readonly takesAgainst?: boolean
  /** On demand: a suite may need a server or a package that the others do not. */
  readonly load: () => Promise<readonly BenchCase[]>
}
