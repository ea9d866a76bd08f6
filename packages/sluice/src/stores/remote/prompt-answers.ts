import { afterPoll } from '../../clock.ts'

/** Far more than come in from outside in one turn. */
const MOST_A_TURN = 1000

/**
 * Answers given without asking the store are there at once. A caller who loops on them would keep the event loop from
 * ever going on, and so from hearing that the store is back: after so many in one turn, the next one waits for another.
 */
export class PromptAnswers {
  private given = 0
  private nextTurn: Promise<void> | undefined

  answer(): Promise<void> {
    if (this.given++ === 0) afterPoll(() => this.begin())
    if (this.given <= MOST_A_TURN) return GIVEN
    this.nextTurn ??= new Promise(resolve => afterPoll(resolve))
    return this.nextTurn
  }

  private begin(): void {
    this.given = 0
    this.nextTurn = undefined
  }
}

const GIVEN = Promise.resolve()
