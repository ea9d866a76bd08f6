import type { ServerResponse } from 'node:http'
import type { QueuedResponse, ResponseQueue } from '../net/response-queue.ts'
import { type HttpAnswer, send } from './http-answer.ts'

/** Answers a request that Node has read, together with the other answers of this turn of the event loop. */
export function reply(queue: ResponseQueue, response: ServerResponse, answer: HttpAnswer): void {
  const ready = new QueuedAnswer(response, answer)
  // A pipelined request whose predecessor is not answered yet. Write at once: Node limits pipelines by the bytes written.
  if (response.socket === null) queue.putNow(ready)
  else queue.put(ready)
}

class QueuedAnswer implements QueuedResponse {
  private readonly response: ServerResponse
  private readonly answer: HttpAnswer

  constructor(response: ServerResponse, answer: HttpAnswer) {
    this.response = response
    this.answer = answer
  }

  leave(): void {
    try {
      send(this.response, this.answer)
    } catch (error) {
      this.response.destroy()
      throw error
    }
  }
}
