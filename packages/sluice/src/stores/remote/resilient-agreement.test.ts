import { test } from 'vitest'
import { RemoteMemory } from '../../fixtures/stores/remote-memory.ts'
import { type Open, storeSuite } from '../../testing/index.ts'
import { resilient } from './resilient.ts'

// A deadline that no pause of this machine can miss.
const open: Open = ({ clock, ...room }) => {
  const far = new RemoteMemory(clock, room)
  return resilient(far, far, { deadlineMs: 60_000 })
}

for (const { name, run } of storeSuite(open, { scale: 0.1 })) {
  test(`a store that works is the same in its wrapper: ${name}`, async () => run())
}
