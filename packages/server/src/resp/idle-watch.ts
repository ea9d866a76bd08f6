import type { RespConnection } from './connection.ts'

export interface IdleLimits {
  /** How long a connection may send nothing; 0 for no limit. */
  readonly idleMs: number
  /** How long the server waits for a client to send the rest of a command, or to read its replies. */
  readonly stuckMs: number
}

/** The state of a connection at the last look, and how often in a row it was the same. */
interface Sighting {
  mark: number
  isStuck: boolean
  times: number
}

const LONGEST_ROUND_MS = 1000
const ROUNDS_PER_LIMIT = 4

/** Checks all connections with one timer and ends those that have made no progress for too long. */
export class IdleWatch {
  private readonly sights = new Map<RespConnection, Sighting>()
  private readonly patience: IdleLimits
  private readonly roundMs: number
  private readonly timer: NodeJS.Timeout
  private readonly onTimeout: (connection: RespConnection) => void

  constructor(patience: IdleLimits, onTimeout: (connection: RespConnection) => void) {
    const shortest = Math.min(patience.stuckMs, patience.idleMs || Infinity)
    this.patience = patience
    this.onTimeout = onTimeout
    this.roundMs = Math.min(LONGEST_ROUND_MS, Math.max(1, shortest / ROUNDS_PER_LIMIT))
    this.timer = setInterval(() => this.round(), this.roundMs).unref()
  }

  add(connection: RespConnection): void {
    this.sights.set(connection, { mark: -1, isStuck: false, times: 0 })
  }

  remove(connection: RespConnection): void {
    this.sights.delete(connection)
  }

  stop(): void {
    clearInterval(this.timer)
  }

  private round(): void {
    const { idleMs, stuckMs } = this.patience
    for (const [connection, sight] of this.sights) {
      const { mark, isStuck } = connection
      const isSame = mark === sight.mark && isStuck === sight.isStuck
      sight.times = isSame ? sight.times + 1 : 0
      sight.mark = mark
      sight.isStuck = isStuck
      const limitMs = isStuck ? stuckMs : idleMs || Infinity
      if (sight.times * this.roundMs >= limitMs) this.onTimeout(connection)
    }
  }
}
