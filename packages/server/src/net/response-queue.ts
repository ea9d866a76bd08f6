/** An answer that is ready. */
export interface QueuedResponse {
  leave(): void
}

/**
 * Sends the answers of one turn of the event loop together at its end, after all input has been read. A sleeping client is
 * then woken once for all of them; waking it for each answer costs more than the decisions. It also leaves fewer answers
 * half written at any time, which the garbage collector would have to move.
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

  /** Sends an answer at once, after all that are queued before it. */
  putNow(answer: QueuedResponse): void {
    this.flush()
    this.send(answer)
  }

  private flush(): void {
    const leaving = this.waiting
    this.waiting = []
    for (const answer of leaving) this.send(answer)
  }

  /** An answer that cannot be sent must not hold up the others. */
  private send(answer: QueuedResponse): void {
    try {
      answer.leave()
    } catch (error) {
      this.onError(error)
    }
  }
}
