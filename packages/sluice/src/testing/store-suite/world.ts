import { TICKS_PER_MS } from '../../clock.ts'
import type { Charge } from '../../stores/charge.ts'
import type { KeyInspection } from '../../stores/inspection.ts'
import type { Change, Intent, Store } from '../../stores/store.ts'
import { type FakeClock, fakeClock } from '../fake-clock.ts'
import { same } from './case.ts'

/** Makes an empty store that runs by the given clock. One case may call it many times. */
export type Open = (options: { clock: FakeClock; maxKeys?: number }) => Store | Promise<Store>

/** The means by which the cases of a suite get stores and repeat random work. */
export interface Bench {
  /** Runs `use` with a fresh store, then closes the store. */
  inWorld(use: (world: World) => Promise<void>, options?: { maxKeys?: number }): Promise<void>
  /** How often to repeat random work: `n` times the suite's scale. */
  times(n: number): number
}

export function benchOf(open: Open, scale: number): Bench {
  return {
    times: n => Math.max(1, Math.round(n * scale)),
    async inWorld(use, { maxKeys } = {}) {
      const clock = fakeClock()
      const store = await open(maxKeys === undefined ? { clock } : { clock, maxKeys })
      try {
        await use(new World(store, clock))
      } finally {
        await store.close()
      }
    },
  }
}

/** A store, its clock, and the time that the store must have. */
export class World {
  readonly store: Store
  readonly clock: FakeClock
  /** The latest tick of any call. This is the store's now, because its time never runs backwards. */
  now = 0
  private tick = 0
  /** By how much the store's time is ahead of the clock. */
  private ahead = 0

  constructor(store: Store, clock: FakeClock) {
    this.store = store
    this.clock = clock
  }

  /** Sets the clock. Returns the tick at which the store will decide the next call. */
  goTo(tick: number): number {
    this.tick = tick
    this.clock.set(tick / TICKS_PER_MS)
    return Math.max(this.now, tick + this.ahead)
  }

  /**
   * Updates `now` for a call. If the clock was set back, the store's time stands still. If it was set back by more than
   * a second, the time goes on from the latest tick.
   */
  private called(): void {
    const back = this.now - this.tick - this.ahead
    if (back > SET_BACK_TICKS) this.ahead += back
    this.now = Math.max(this.now, this.tick + this.ahead)
  }

  /**
   * Asks the store. An in-process store must call `done` before `ask` returns, any other store later, and each once.
   */
  async decide(charges: readonly Charge[], intent: Intent): Promise<void> {
    this.called()
    const { store } = this
    let answers = 0
    const answered = new Promise<void>(resolve => {
      const done = () => {
        answers++
        resolve()
      }
      store.ask({ charges, intent, done })
    })
    if (store.mode === 'sync') same(answers, 1, () => 'answers of an in-process store when ask returns')
    await answered
    same(answers, 1, () => 'answers to a question')
    for (const { at } of charges) same(at, this.now, () => `the tick of a decision made at ${this.tick}`)
  }

  async amend(changes: readonly Change[]): Promise<number[]> {
    this.called()
    return this.store.amend(changes)
  }

  async inspect(charge: Charge): Promise<KeyInspection> {
    this.called()
    return this.store.inspect(charge)
  }
}

/** Traces end here, in the year 2109: after it a double of milliseconds cannot tell neighbouring ticks apart. */
export const LATEST_TICK = 2 ** 42 * TICKS_PER_MS
const SET_BACK_TICKS = 1_000_000
/** A moment that is not the boundary of any window. */
export const TODAY = 1_790_000_123_456_789
