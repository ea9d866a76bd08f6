import type { Answer } from './exchange.ts'

/**
 * Answers that are ready in one turn of the event loop leave together, when all that came in has been read. A client that
 * sleeps is woken once for all of them; woken for each, the waking costs more than the deciding.
 */
export class Outbox<T> {
  private waiting: { to: T; answer: Answer }[] = []
  private readonly write: (to: T, answer: Answer) => void
  private readonly failed: (to: T, error: unknown) => void

  constructor(write: (to: T, answer: Answer) => void, failed: (to: T, error: unknown) => void) {
    this.write = write
    this.failed = failed
  }

  put(to: T, answer: Answer): void {
    if (this.waiting.push({ to, answer }) === 1) setImmediate(() => this.flush())
  }

  /** For whom there is a reason not to wait; all before it leave first. */
  putNow(to: T, answer: Answer): void {
    this.flush()
    this.send(to, answer)
  }

  private flush(): void {
    const leaving = this.waiting
    this.waiting = []
    for (const { to, answer } of leaving) this.send(to, answer)
  }

  /** One that cannot be written must not keep the others. */
  private send(to: T, answer: Answer): void {
    try {
      this.write(to, answer)
    } catch (error) {
      this.failed(to, error)
    }
  }
}
