import { brand } from '../../brand.ts'
import { checkOptions } from '../../check-options.ts'
import type { Decision } from '../../decision.ts'
import { MAX_WINDOW_MS } from '../../duration.ts'
import { expected } from '../../errors.ts'
import { NAME, WindowRateLimiter } from './limiter.ts'

export class RateLimiterQueueError extends Error {
  override readonly name = 'RateLimiterQueueError'
}
brand('RateLimiterQueueError', RateLimiterQueueError)

/** The calls for one key. */
interface Line {
  calls: number
  waiting: number
  /**
   * Resolves when the last call has passed, was refused or began to wait. The next call is tried only then, so that no
   * call overtakes another.
   */
  entered: Promise<unknown>
}

/** Calls that wait for their points, first come, first served per key. */
export class RateLimiterQueue {
  private readonly limiter: WindowRateLimiter
  private readonly maxQueueSize: number
  private readonly lines = new Map<string, Line>()

  constructor(limiter: WindowRateLimiter, options: { maxQueueSize?: number } = {}) {
    const { maxQueueSize = 2 ** 32 - 1 } = checkOptions('RateLimiterQueue', options, ['maxQueueSize'])
    if (!(limiter instanceof WindowRateLimiter)) {
      throw expected('SLUICE_BAD_OPTION', `RateLimiterQueue of a limiter from sluice/compat/${NAME}`, limiter)
    }
    if (!(maxQueueSize >= 0)) throw expected('SLUICE_BAD_OPTION', 'maxQueueSize as a number', maxQueueSize)
    this.limiter = limiter
    this.maxQueueSize = maxQueueSize
  }

  async getTokensRemaining(key: string | number = DEFAULT_KEY): Promise<number> {
    return (await this.limiter.get(key))?.remainingPoints ?? this.limiter.points
  }

  /** How many tokens remain. `expiresUnixAt` is in seconds; a call that would wait longer is rejected at once. */
  async removeTokens(tokens: number, key: string | number = DEFAULT_KEY, expiresUnixAt = 0): Promise<number> {
    const { points } = this.limiter
    if (tokens > points) throw new RateLimiterQueueError(`${tokens} tokens are more than the ${points} of the limiter`)
    const subject = String(key)
    const line = this.lines.get(subject) ?? { calls: 0, waiting: 0, entered: Promise.resolve() }
    this.lines.set(subject, line)
    line.calls++
    try {
      const entered = line.entered.then(() => this.enter(line, subject, tokens, expiresUnixAt))
      line.entered = entered.catch(() => {})
      const { decided } = await entered
      const { allowed, remaining } = await decided
      if (allowed) return remaining
      throw new RateLimiterQueueError(EXPIRED)
    } finally {
      line.calls--
      if (line.calls === 0) this.lines.delete(subject)
    }
  }

  /** Passes now, or begins to wait. */
  private async enter(line: Line, subject: string, tokens: number, expiresUnixAt: number): Promise<Entered> {
    const { limiter } = this.limiter
    const isFirst = line.waiting === 0
    const now = await (isFirst ? limiter.consume(subject, { cost: tokens }) : limiter.peek(subject, { cost: tokens }))
    if (isFirst && now.allowed) return { decided: now }
    if (line.waiting >= this.maxQueueSize) throw new RateLimiterQueueError(`${line.waiting} requests wait already`)
    const maxWaitMs = expiresUnixAt > 0 ? Math.floor(expiresUnixAt * 1000 - now.at) : Infinity
    if (maxWaitMs <= 0) throw new RateLimiterQueueError(EXPIRED)
    const longest = maxWaitMs <= MAX_WINDOW_MS ? { maxWait: `${maxWaitMs}ms` as const } : {}
    line.waiting++
    const decided = limiter.wait(subject, { cost: tokens, ...longest }).finally(() => line.waiting--)
    return { decided }
  }
}

interface Entered {
  readonly decided: Decision | Promise<Decision>
}

const DEFAULT_KEY = 'limiter'
const EXPIRED = 'the tokens are not there before the request expires'
