import { afterPoll } from '../../clock.ts'

/** Far more requests than a process receives in one turn. */
const MOST_A_TURN = 1000

/**
 * An answer that needs no store comes at once. A caller who asks for such answers in a loop would block the event loop,
 * and the process would never hear that the store is back. So after many answers in one turn, the next answer comes in
 * another turn.
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
