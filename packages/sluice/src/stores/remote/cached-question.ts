import type { Charge } from '../charge.ts'
import type { Intent, Question } from '../store.ts'
import type { AnsweredQuestion } from './refusal.ts'

/** All questions until the next answer share one reading of the clock. It may be early, so no refusal is kept too long. */
export interface ClockReading {
  readonly at: number
}

/** Receives the answers. */
export interface AnswerListener {
  readonly refusals: { readonly changes: number; readonly kept: number }
  answered(sent: CachedQuestion): void
}

/** A question under way, and what the cache knew when it was asked. */
export class CachedQuestion implements Question, AnsweredQuestion {
  readonly charges: readonly Charge[]
  readonly intent: Intent
  readonly changes: number
  /** How many refusals the cache had kept. */
  readonly kept: number
  /** Whether the cache may keep a refusal of it. */
  readonly repeats: boolean
  /** Whether a kept refusal already depends on one of its keys. */
  readonly isKnown: boolean
  private readonly listener: AnswerListener
  private readonly question: Question
  private readonly reading: ClockReading

  constructor(listener: AnswerListener, question: Question, reading: ClockReading, repeats: boolean, isKnown: boolean) {
    this.charges = question.charges
    this.intent = question.intent
    this.changes = listener.refusals.changes
    this.kept = listener.refusals.kept
    this.repeats = repeats
    this.isKnown = isKnown
    this.listener = listener
    this.question = question
    this.reading = reading
  }

  get sentAt(): number {
    return this.reading.at
  }

  done(): void {
    this.listener.answered(this)
    this.question.done()
  }
}
