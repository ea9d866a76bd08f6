import type { ServerResponse } from 'node:http'
import type { QueuedResponse, ResponseQueue } from '../net/response-queue.ts'
import { type HttpAnswer, send } from './http-answer.ts'

/** Answers a request that Node has read, with the others of its turn. */
export function reply(queue: ResponseQueue, response: ServerResponse, answer: HttpAnswer): void {
  const ready = new QueuedAnswer(response, answer)
  // Its connection has not seen the answer before it: a pipeline. What that takes in Node bounds by what is on its way out.
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
