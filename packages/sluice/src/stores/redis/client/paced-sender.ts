import { afterPoll } from '../../../clock.ts'

/**
 * Sends one call a round of the event loop, in the order they came.
 *
 * For a client that writes once a round: several calls would reach the server in one piece, and it answers in one piece
 * what it reads in one. Then neither side ever works while the other does, at half the speed.
 */
export class PacedSender {
  private readonly waiting: (() => void)[] = []
  /** One was sent in this round. */
  private isBusy = false

  send(sends: readonly (() => void)[]): void {
    this.waiting.push(...sends)
    if (!this.isBusy) this.next()
  }

  private next(): void {
    const send = this.waiting.shift()
    this.isBusy = send !== undefined
    try {
      send?.()
    } finally {
      // The client has asked for its turn to write before this does.
      if (this.isBusy) afterPoll(() => this.next())
    }
  }
}
