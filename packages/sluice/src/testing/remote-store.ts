import { checkOptions } from '../check-options.ts'
import { StoreUnavailable } from '../errors.ts'
import type { Charge } from '../stores/charge.ts'
import type { Space } from '../stores/limit.ts'
import { type MemoryStore, memoryStore } from '../stores/memory/memory-store.ts'
import type { Change, Question, Store } from '../stores/store.ts'
import type { FakeClock } from './fake-clock.ts'

export interface SimulatedStoreOptions {
  /** The clock of the test. Its timers end the delays. */
  clock: FakeClock
  /** How many milliseconds a call takes in each direction. 1 by default. */
  delayMs?: number
  /** How many milliseconds the server's own clock is ahead of the test's. 0 by default. */
  aheadMs?: number
}

export interface SimulatedStore extends Store<'async'> {
  /** While false, every call fails as unavailable. */
  up: boolean
  delayMs: number
}

/**
 * A simulated server that several limiters can share: `memoryStore` in this process, with a delay, outages and a clock
 * of its own.
 */
export function simulatedStore(options: SimulatedStoreOptions): SimulatedStore {
  const { clock, delayMs = 1, aheadMs = 0 } = checkOptions('simulatedStore', options, ['clock', 'delayMs', 'aheadMs'])
  return new Simulated(clock, memoryStore({ clock: { now: () => clock.now() + aheadMs } }), delayMs)
}

class Simulated implements SimulatedStore {
  readonly mode = 'async'
  readonly clock: FakeClock
  up = true
  delayMs: number
  private readonly server: MemoryStore

  constructor(clock: FakeClock, server: MemoryStore, delayMs: number) {
    this.clock = clock
    this.server = server
    this.delayMs = delayMs
  }

  bind(path: string): Space {
    return this.server.bind(path)
  }

  ask(question: Question): void {
    this.travel(() => {
      if (this.up) this.server.ask({ charges: question.charges, intent: question.intent, done: () => {} })
      else for (const charge of question.charges) charge.fault = unavailable()
      this.travel(() => question.done())
    })
  }

  amend(changes: readonly Change[]): Promise<number[]> {
    return this.call(() => this.server.amend(changes))
  }

  inspect(charge: Charge): ReturnType<Store<'async'>['inspect']> {
    return this.call(() => this.server.inspect(charge))
  }

  async close(): Promise<void> {
    this.server.close()
  }

  private call<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.travel(() => {
        if (!this.up) this.travel(() => reject(unavailable()))
        else {
          const answer = work()
          this.travel(() => resolve(answer))
        }
      })
    })
  }

  private travel(arrived: () => void): void {
    this.clock.after(this.delayMs, arrived)
  }
}

function unavailable(): StoreUnavailable {
  return new StoreUnavailable('SLUICE_STORE_UNREACHABLE', 'the simulated store is down')
}
