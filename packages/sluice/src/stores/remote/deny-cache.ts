import { type Clock, systemClock, TICKS_PER_MS } from '../../clock.ts'
import { expected } from '../../errors.ts'
import { type Charge, ENFORCED } from '../charge.ts'
import type { KeyInspection } from '../inspection.ts'
import type { Space } from '../limit.ts'
import type { Change, Intent, Question, Store } from '../store.ts'
import { StoreTime } from '../store-time.ts'
import { type AnswerListener, CachedQuestion, type ClockReading } from './cached-question.ts'
import { PromptAnswers } from './prompt-answers.ts'
import { CachedRefusals } from './refusals.ts'

export interface DenyCacheOptions {
  /** How long a refusal is repeated at most. A change made elsewhere is seen by then. 1000 by default. */
  forMs?: number
  /** How many refusals to remember at most. 10,000 by default. */
  maxEntries?: number
  /** Measures how old a refusal is; it need not show the right time of day. */
  clock?: Clock
}

export interface DenyCache extends Store<'async'> {
  /** How many calls were answered without asking the store. */
  readonly hits: number
  /** How many refusals are remembered. One that no longer holds counts until the same is asked again. */
  readonly size: number
}

/**
 * Repeats a refusal without asking the store. Until `retryAt` a refusal is final, since other requests can only
 * lengthen it. A refund or a reset can shorten it: one made here counts at once, one made elsewhere within `forMs`.
 *
 * It does not repeat refusals that may end at any moment: those of concurrency limits and those the store calls
 * tentative. It does not repeat calls with a shadow in place of a limit either: the shadow may be charged though the
 * call is refused.
 */
export function denyCache(inner: Store<'async'>, options: DenyCacheOptions = {}): DenyCache {
  const { forMs = 1000, maxEntries = 10_000, clock = systemClock } = options
  if (!Number.isFinite(forMs) || forMs <= 0) {
    throw expected('SLUICE_BAD_OPTION', 'forMs as a number of milliseconds above 0', forMs)
  }
  if (!Number.isInteger(maxEntries) || maxEntries < 1) {
    throw expected('SLUICE_BAD_OPTION', 'maxEntries as a whole number, 1 or more', maxEntries)
  }
  if (typeof clock?.now !== 'function') throw expected('SLUICE_BAD_CLOCK', 'a clock with now()', clock)
  return new DenyCacheStore(inner, new CachedRefusals(maxEntries, forMs * TICKS_PER_MS), clock)
}

class DenyCacheStore implements DenyCache, AnswerListener {
  readonly mode = 'async'
  readonly clock: Clock
  hits = 0
  private readonly inner: Store<'async'>
  readonly refusals: CachedRefusals
  /** Local time. It goes on when the clock is set back, as a store's time does, so that a refusal's age stays true. */
  private readonly time: StoreTime
  private readonly prompt = new PromptAnswers()
  private reading: ClockReading | undefined

  constructor(inner: Store<'async'>, refusals: CachedRefusals, localClock: Clock) {
    this.inner = inner
    this.clock = inner.clock
    this.refusals = refusals
    this.time = new StoreTime(localClock, () => {})
    this.reading = undefined
  }

  get size(): number {
    return this.refusals.size
  }

  bind(path: string): Space {
    return this.inner.bind(path)
  }

  async amend(changes: readonly Change[]): Promise<number[]> {
    this.now()
    this.forget(changes)
    try {
      return await this.inner.amend(changes)
    } finally {
      this.forget(changes) // what callers asked meanwhile, the store may have answered before the change
    }
  }

  inspect(charge: Charge): Promise<KeyInspection> {
    this.now()
    return this.inner.inspect(charge)
  }

  close(): Promise<void> {
    return this.inner.close()
  }

  ask(question: Question): void {
    if (question.intent.take) {
      this.askOnce(question)
    } else {
      this.now() // the store reads the clock too: if it is set back later, this time must not fall behind the store's
      this.inner.ask(question)
    }
  }

  private askOnce(question: Question): void {
    const { charges, intent } = question
    const repeats = isRepeatable(charges, intent)
    const isKnown = this.refusals.concern(charges)
    if (repeats && isKnown && this.repeat(question)) return
    this.reading ??= { at: this.now() }
    this.inner.ask(new CachedQuestion(this, question, this.reading, repeats, isKnown))
  }

  /** Answers from a kept refusal, if one still holds. */
  private repeat(question: Question): boolean {
    const { charges } = question
    const now = this.now()
    const refusal = this.refusals.find(charges, now)
    if (refusal === undefined) return false
    this.hits++
    refusal.repeat(charges, now)
    void this.prompt.answer().then(() => question.done())
    return true
  }

  /** Compares the answer with what the cache knew when it was asked. */
  answered(sent: CachedQuestion): void {
    const { refusals } = this
    this.reading = undefined
    const { charges, repeats, isKnown } = sent
    if (isKnown || refusals.kept !== sent.kept) refusals.observe(charges, sent.intent.strikes)
    if (repeats && isFinal(charges)) refusals.keep(sent, this.now())
    else if (repeats && isKnown) refusals.forget(charges)
  }

  private forget(changes: readonly Change[]): void {
    // A released slot ends no kept refusal: those of concurrency limits are not kept.
    for (const { type, charge } of changes) if (type !== 'release') this.refusals.change(charge)
  }

  private now(): number {
    return this.time.read()
  }
}

function isRepeatable(charges: readonly Charge[], { take, holdTicks, bookTicks, strikes }: Intent): boolean {
  if (!take || holdTicks !== 0 || bookTicks >= 0 || !strikes) return false
  for (const { role } of charges) if (role >= 0) return false
  return true
}

/** Whether it is a refusal that only time or a change can end. */
function isFinal(charges: readonly Charge[]): boolean {
  let isRefused = false
  for (const charge of charges) {
    if (charge.fault !== undefined) return false
    if (charge.allowed) continue
    if (charge.tentative || charge.rule.kind === 'slots') return false
    if (charge.role === ENFORCED) isRefused = true
  }
  return isRefused
}
