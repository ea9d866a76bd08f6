import type { Waiter, WaiterGroup } from './waiter.ts'

/**
 * All waiters, grouped by their signal. Each signal gets one listener, however many waiters share it, because a signal
 * compares a new listener with all it has.
 */
export class SignalGroups {
  private readonly groups = new Map<AbortSignal | undefined, SignalGroup>()
  private readonly together: (abort: () => void) => void

  /** `together` wraps the abort of several waiters, so that one call to the store refunds them all. */
  constructor(together: (abort: () => void) => void) {
    this.together = together
  }

  add(waiter: Waiter, signal: AbortSignal | undefined): void {
    let group = this.groups.get(signal)
    if (group === undefined) {
      group = new SignalGroup(signal, this.together, () => this.groups.delete(signal))
      this.groups.set(signal, group)
    }
    group.add(waiter)
  }

  abortAll(reason: unknown): void {
    this.together(() => {
      for (const group of this.groups.values()) group.abort(reason)
    })
  }
}

/** The waiters of one signal, or those without one. */
class SignalGroup implements WaiterGroup {
  private readonly signal: AbortSignal | undefined
  private readonly together: (abort: () => void) => void
  private readonly emptied: () => void
  private readonly waiters = new Set<Waiter>()

  constructor(signal: AbortSignal | undefined, together: (abort: () => void) => void, emptied: () => void) {
    this.signal = signal
    this.together = together
    this.emptied = emptied
    signal?.addEventListener('abort', this, { once: true })
  }

  add(waiter: Waiter): void {
    waiter.group = this
    this.waiters.add(waiter)
  }

  remove(waiter: Waiter): void {
    this.waiters.delete(waiter)
    if (this.waiters.size > 0) return
    if (this.signal?.aborted === false) this.signal.removeEventListener('abort', this)
    this.emptied()
  }

  abort(reason: unknown): void {
    for (const waiter of this.waiters) waiter.abort(reason)
  }

  /** The signal was aborted. */
  handleEvent(): void {
    this.together(() => this.abort(this.signal!.reason))
  }
}
