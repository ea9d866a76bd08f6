import { afterPoll } from '../../../clock.ts'

/**
 * Sends one call per round of the event loop, in the order they came.
 *
 * For clients that write once per round. Several calls would reach the server in one piece, and it answers in one piece
 * what it reads in one. Then each side would only work while the other waits, at half the speed.
 */
export class PacedSender {
  private readonly waiting: (() => void)[] = []
  /** A call was sent in this round. */
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
      // The client has scheduled its write before this callback.
      if (this.isBusy) afterPoll(() => this.next())
    }
  }
}
