import type { Finish } from './commands/command.ts'
import type { ReplyWriter } from './reply-writer.ts'

/** What writes a reply; undefined until its answer is there. */
interface PendingReply {
  write: Finish | undefined
}

/** Replies that wait for their turn, in the order of their questions. */
export class ReplyOrder {
  private readonly waiting: PendingReply[] = []
  private readonly onDue: () => void
  private isDue = false

  /** `onDue` is called when the first of them can be written: some time later, never at once. */
  constructor(onDue: () => void) {
    this.onDue = onDue
  }

  get count(): number {
    return this.waiting.length
  }

  /** One that is ready but comes after others. */
  add(write: Finish): void {
    this.waiting.push({ write })
  }

  /** One whose answer is still to come. */
  addLater(later: Promise<Finish>): void {
    const turn: PendingReply = { write: undefined }
    this.waiting.push(turn)
    void later.then(write => {
      turn.write = write
      if (this.isDue || this.waiting[0]?.write === undefined) return
      this.isDue = true
      // Answers often come together: when all of them are there, they go out together.
      process.nextTick(() => {
        this.isDue = false
        this.onDue()
      })
    })
  }

  /** Writes those whose turn it is. */
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
