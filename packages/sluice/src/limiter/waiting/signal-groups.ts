import type { Waiter } from './waiter.ts'

/**
 * All who wait, by their signal. However many share one, it has one listener of ours: at every change a signal searches
 * its listeners from the first.
 */
export class SignalGroups<S> {
  private readonly groups = new Map<AbortSignal | undefined, SignalGroup<S>>()

  add(waiter: Waiter<S>, signal: AbortSignal | undefined): void {
    let group = this.groups.get(signal)
    if (group === undefined) {
      group = new SignalGroup(signal, () => this.groups.delete(signal))
      this.groups.set(signal, group)
    }
    group.add(waiter)
  }

  abortAll(reason: unknown): void {
    for (const group of [...this.groups.values()]) group.abort(reason)
  }
}

/** Those who wait under one signal, or under none. */
export class SignalGroup<S> {
  private readonly signal: AbortSignal | undefined
  private readonly emptied: () => void
  private readonly waiters = new Set<Waiter<S>>()

  constructor(signal: AbortSignal | undefined, emptied: () => void) {
    this.signal = signal
    this.emptied = emptied
    signal?.addEventListener('abort', this)
  }

  add(waiter: Waiter<S>): void {
    waiter.group = this
    this.waiters.add(waiter)
  }

  remove(waiter: Waiter<S>): void {
    this.waiters.delete(waiter)
    if (this.waiters.size > 0) return
    this.signal?.removeEventListener('abort', this)
    this.emptied()
  }

  abort(reason: unknown): void {
    for (const waiter of this.waiters) waiter.abort(reason)
  }

  handleEvent(): void {
    this.abort(this.signal!.reason)
  }
}
