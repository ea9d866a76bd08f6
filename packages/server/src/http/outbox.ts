import type { ServerResponse } from 'node:http'
import { type Answer, send } from './exchange.ts'

/**
 * Answers that are ready in one turn of the event loop leave together, when all that came in has been read. A client that
 * sleeps is woken once for all of them; woken for each, the waking costs more than the deciding.
 */
export class Outbox {
  private waiting: { response: ServerResponse; answer: Answer }[] = []
  private readonly onError: (error: unknown) => void

  constructor(onError: (error: unknown) => void) {
    this.onError = onError
  }

  put(response: ServerResponse, answer: Answer): void {
    // Its connection has not seen the answer before it: a pipeline. What that takes in Node bounds by what is on its way out.
    if (response.socket === null) {
      this.flush()
      this.send(response, answer)
    } else if (this.waiting.push({ response, answer }) === 1) setImmediate(() => this.flush())
  }

  private flush(): void {
    const leaving = this.waiting
    this.waiting = []
    for (const { response, answer } of leaving) this.send(response, answer)
  }

  /** One that cannot be written must not keep the others. */
  private send(response: ServerResponse, answer: Answer): void {
    try {
      send(response, answer)
    } catch (error) {
      response.destroy()
      this.onError(error)
    }
  }
}
