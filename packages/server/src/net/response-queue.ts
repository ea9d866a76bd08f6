/** An answer that is ready. */
export interface QueuedResponse {
  leave(): void
}

/**
 * Answers that are ready in one turn of the event loop leave together at its end, when all that came in has been read. A
 * client that sleeps is woken once for all of them; woken for each, the waking costs more than the deciding. And where
 * each leaves as it is made, many are always half-way out: the garbage collector finds them alive, and moves them.
 */
export class ResponseQueue {
  private waiting: QueuedResponse[] = []
  private readonly onError: (error: unknown) => void

  constructor(onError: (error: unknown) => void) {
    this.onError = onError
  }

  put(answer: QueuedResponse): void {
    if (this.waiting.push(answer) === 1) setImmediate(() => this.flush())
  }

  /** For one that has a reason not to wait; all before it leave first. */
  putNow(answer: QueuedResponse): void {
    this.flush()
    this.send(answer)
  }

  private flush(): void {
    const leaving = this.waiting
    this.waiting = []
    for (const answer of leaving) this.send(answer)
  }

  /** One that cannot be sent must not keep the others. */
  private send(answer: QueuedResponse): void {
    try {
      answer.leave()
    } catch (error) {
      this.onError(error)
    }
  }
}
