import { after, afterPoll, type Clock } from '../../clock.ts'
import type { Network } from './remote-store.ts'

/**
 * The wait for a store's first connection. A connection takes longer than an answer may, so its wait is longer. All
 * callers share one wait: after it has failed, later callers do not wait again.
 */
export class FirstConnection {
  private readonly network: Network
  private readonly clock: Clock
  private readonly waitMs: number
  private waited: Promise<boolean> | undefined
  private end: ((stands: boolean) => void) | undefined

  constructor(network: Network, clock: Clock, waitMs: number) {
    this.network = network
    this.clock = clock
    this.waitMs = waitMs
  }

  /** False if it took too long. */
  stands(): Promise<boolean> {
    this.waited ??= new Promise(resolve => {
      const cancelTimer = after(this.clock, this.waitMs, () => afterPoll(() => resolve(false)))
      this.end = stands => {
        cancelTimer()
        resolve(stands)
      }
      this.network.connecting?.then(() => this.end!(true))
    })
    return this.waited
  }

  cancel(): void {
    this.end?.(false)
  }
}
