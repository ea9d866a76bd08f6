import type { Suite } from './bench-case.ts'
import type { Settings } from './harness.ts'

/** So short that what the machine does meanwhile meets all contestants of a round alike, and many. */
const MANY_SHORT: Settings = { rounds: 150, sliceMs: 50 }
/** Where a contestant has to come up to its speed first, with processes at both ends of many connections. */
const FEW_LONG: Settings = { rounds: 21, sliceMs: 200 }
/** What does not vary is measured once. */
const ONCE: Settings = { rounds: 1, sliceMs: 1 }

/** What a minute of a limited server gives, once: the windows of the server are the rounds. */
const ONE_MINUTE: Settings = { rounds: 1, sliceMs: 60_000 }

export const suites: Readonly<Record<string, Suite>> = {
  client: { settings: ONE_MINUTE, load: async () => (await import('./client/suite.ts')).cases },
  http: { settings: MANY_SHORT, load: async () => (await import('./http/suite.ts')).cases },
  memory: { settings: MANY_SHORT, takesAgainst: true, load: async () => (await import('./memory/suite.ts')).cases },
  redis: { settings: FEW_LONG, load: async () => (await import('./redis/suite.ts')).cases },
  studio: { settings: { rounds: 1, sliceMs: 10_000 }, load: async () => (await import('./studio/suite.ts')).cases },
  service: { settings: FEW_LONG, load: async () => (await import('./service/suite.ts')).cases },
  size: { settings: ONCE, takesAgainst: true, load: async () => (await import('./size/suite.ts')).cases },
}
