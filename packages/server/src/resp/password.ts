import { createHash, timingSafeEqual } from 'node:crypto'
import { type Clock, createLimiter, gcra, memoryStore } from 'sluice'

/** How many wrong passwords from one address are compared at once. After that it gets one per second. */
export const GUESSES = { burst: 10, rate: '1/s' } as const
/** How many guessing addresses are counted apart. Beyond that, new ones share a count. */
const MOST_ADDRESSES = 10_000

/**
 * Compares in a time that tells nothing of the password, not even its length: digests are compared, not texts. An address that
 * guessed too often is not compared at all for a while. Many connections do not help it, and it learns nothing from how long
 * an answer takes.
 */
export class Password {
  private readonly digest: Buffer
  private readonly wrong

  constructor(password: string, clock?: Clock) {
    this.digest = digestOf(Buffer.from(password))
    const store = memoryStore({ maxKeys: MOST_ADDRESSES, ...(clock && { clock }) })
    this.wrong = createLimiter(gcra(GUESSES), { store })
  }

  /** Whether it is the password; `too-many` if it was not compared. */
  check(offered: Buffer, address: string): 'right' | 'wrong' | 'too-many' {
    if (!this.wrong.peek(address).allowed) return 'too-many'
    if (timingSafeEqual(this.digest, digestOf(offered))) return 'right'
    this.wrong.consume(address)
    return 'wrong'
  }
}

function digestOf(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest()
}
