import { afterIfStillHere, systemClock, TICKS_PER_MS } from '../../clock.ts'
import type { Charge } from '../store.ts'
import { holdOf } from './hold.ts'

/**
 * Keeps the slots of long work: each is renewed three times a ttl, as long as its decision is in use and not released.
 * A process that dies stops renewing, and a decision that nobody has any more is not renewed either.
 */
export class Heartbeat {
  private readonly renew: (charge: Charge) => Promise<unknown>
  private readonly held = new Map<number, WeakRef<Charge>>()
  private cancelTimer: (() => void) | undefined

  constructor(renew: (charge: Charge) => Promise<unknown>) {
    this.renew = renew
  }

  watch(charges: readonly Charge[]): void {
    for (const charge of charges) {
      const hold = charge.rule.kind === 'slots' && charge.taken ? holdOf(charge) : undefined
      if (hold === undefined) continue
      this.held.set(hold.id, new WeakRef(charge))
      this.arm(charge)
    }
  }

  stop(): void {
    this.cancelTimer?.()
    this.held.clear()
  }

  private arm(charge: Charge): void {
    if (this.cancelTimer !== undefined || charge.rule.kind !== 'slots') return
    const everyMs = charge.rule.ttlTicks / TICKS_PER_MS / 3
    this.cancelTimer = afterIfStillHere(systemClock, everyMs, () => {
      this.cancelTimer = undefined
      this.beat()
    })
  }

  private beat(): void {
    for (const [id, ref] of this.held) {
      const charge = ref.deref()
      if (charge === undefined || holdOf(charge)?.ended !== undefined) this.held.delete(id)
      else {
        // One that fails is tried again with the next beat; what has expired by then is not held any more.
        this.renew(charge).catch(() => undefined)
        this.arm(charge)
      }
    }
  }
}
