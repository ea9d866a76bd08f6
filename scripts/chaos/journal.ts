import { setTimeout as sleep } from 'node:timers/promises'
import type { Decision, Degraded, Limiter } from 'sluice'

/** One decision as its caller saw it. */
export interface Entry {
  /** When it was asked for, in milliseconds of this process. */
  readonly askedAt: number
  /** How long the answer took. */
  readonly ms: number
  /** When it was decided, in epoch milliseconds of the clock that decided. */
  readonly at: number
  readonly allowed: boolean
  readonly degraded: Degraded
}

/** All questions to one limiter with their answers, in the order of the answers. */
export class Journal {
  readonly entries: Entry[] = []
  /** Errors thrown at callers. An outage must never throw. */
  readonly errors: unknown[] = []
  private readonly limiter: Limiter<string, 'async'>
  private pending = 0

  constructor(limiter: Limiter<string, 'async'>) {
    this.limiter = limiter
  }

  ask(subject: string): void {
    const askedAt = performance.now()
    this.pending++
    this.limiter.consume(subject).then(
      decision => this.write(askedAt, decision),
      error => {
        this.pending--
        this.errors.push(error)
      },
    )
  }

  /** Waits for the remaining answers. */
  async complete(withinMs = 5000): Promise<void> {
    for (const deadline = performance.now() + withinMs; this.pending > 0; await sleep(5)) {
      if (performance.now() > deadline) throw new Error(`${this.pending} decisions without an answer`)
    }
  }

  private write(askedAt: number, { at, allowed, degraded }: Decision): void {
    this.pending--
    this.entries.push({ askedAt, ms: performance.now() - askedAt, at, allowed, degraded })
  }
}
