import { afterPoll } from '../../../clock.ts'
import type { RedisLink } from './client.ts'

/** Something that has calls to send. */
export interface Flushable {
  flush(): void
}

/** The most calls to send together. The servers begin with them while this process writes the next. */
const MOST_TOGETHER = 32

/**
 * The calls of all shards leave together, once the event loop has handled all input that had arrived. A server's
 * requests come on many connections, and a cluster's replies on several, each in a turn of its own. What they ask in
 * one round of the loop travels in as few calls as if it had been one turn.
 */
export class FlushScheduler {
  private readonly link: RedisLink
  private isSet = false
  private waiting: Flushable[] = []
  private callbacks: (() => void)[] = []

  constructor(link: RedisLink) {
    this.link = link
  }

  add(sender: Flushable): void {
    this.set()
    this.waiting.push(sender)
  }

  /** Calls back just before what is added now is sent. */
  whenLeaving(callback: () => void): void {
    this.set()
    this.callbacks.push(callback)
  }

  private set(): void {
    if (this.isSet) return
    this.isSet = true
    afterPoll(() => this.leave())
  }

  private leave(): void {
    const { waiting: senders, callbacks } = this
    this.isSet = false
    this.waiting = []
    this.callbacks = []
    for (const callback of callbacks) callback()
    if (senders.length === 1) senders[0]!.flush()
    else this.sendTogether(senders)
  }

  private sendTogether(senders: readonly Flushable[]): void {
    for (let from = 0; from < senders.length; from += MOST_TOGETHER) {
      const group = senders.slice(from, from + MOST_TOGETHER)
      this.link.together(() => {
        for (const sender of group) sender.flush()
      })
    }
  }
}
