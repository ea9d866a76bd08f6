import { describe, test } from 'vitest'
import { storeSuite } from '../../testing/store-suite.ts'
import type { Store } from '../store.ts'
import { memoryStore } from './memory-store.ts'

describe('the memory store', () => {
  for (const { name, run } of storeSuite(options => memoryStore(options))) test(name, async () => run())
})

/** Every answer a promise, as a remote store gives them: the suite must wait for each. */
function behindPromises(store: Store<'sync'>): Store<'async'> {
  return {
    mode: 'async',
    clock: store.clock,
    bind: path => store.bind(path),
    ask: question => queueMicrotask(() => store.ask(question)),
    amend: async changes => store.amend(changes),
    inspect: async charge => store.inspect(charge),
    close: async () => store.close(),
  }
}

describe('a store that answers by promises', () => {
  const cases = storeSuite(async options => behindPromises(memoryStore(options)), { scale: 0.1 })
  for (const { name, run } of cases) test(name, async () => run())
})
