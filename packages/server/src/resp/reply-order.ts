import type { Finish } from './commands/command.ts'
import type { ReplyWriter } from './reply-writer.ts'

/** `write` writes the reply; it is undefined until the answer is there. */
interface PendingReply {
  write: Finish | undefined
}

/** Keeps replies in the order of their commands until they can be sent. */
export class ReplyOrder {
  private readonly waiting: PendingReply[] = []
  private readonly onDue: () => void
  private isDue = false

  /** Calls `onDue` when the first reply can be written, always in a later tick. */
  constructor(onDue: () => void) {
    this.onDue = onDue
  }

  get count(): number {
    return this.waiting.length
  }

  /** Adds a reply that is ready but comes after others. */
  add(write: Finish): void {
    this.waiting.push({ write })
  }

  /** Adds a reply whose answer is still to come. */
  addLater(later: Promise<Finish>): void {
    const turn: PendingReply = { write: undefined }
    this.waiting.push(turn)
    void later.then(write => {
      turn.write = write
      if (this.isDue || this.waiting[0]?.write === undefined) return
      this.isDue = true
      // Answers often come together, so this waits a tick and writes them together.
      process.nextTick(() => {
        this.isDue = false
        this.onDue()
      })
    })
  }

  /** Writes the replies that are ready, up to the first that is not. */
  write(reply: ReplyWriter): void {
    let count = 0
    for (const { write } of this.waiting) {
      if (write === undefined) break
      write(reply)
      count++
    }
    this.waiting.splice(0, count)
  }
}
