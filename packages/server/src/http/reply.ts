import type { ServerResponse } from 'node:http'
import type { Leaving, Outbox } from '../outbox.ts'
import { type Answer, send } from './exchange.ts'

/** Answers a request that Node has read, with the others of its turn. */
export function reply(outbox: Outbox, response: ServerResponse, answer: Answer): void {
  const ready = new Reply(response, answer)
  // Its connection has not seen the answer before it: a pipeline. What that takes in Node bounds by what is on its way out.
  if (response.socket === null) outbox.putNow(ready)
  else outbox.put(ready)
}

class Reply implements Leaving {
  private readonly response: ServerResponse
  private readonly answer: Answer

  constructor(response: ServerResponse, answer: Answer) {
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
