import type { Charge } from '../charge.ts'
import type { Intent, Question } from '../store.ts'
import type { AnsweredQuestion } from './refusal.ts'

/** One reading of the clock, for all that is asked until the next answer. Being early, it keeps no refusal too long. */
export interface ClockReading {
  readonly at: number
}

/** Who hears the answers. */
export interface AnswerListener {
  readonly refusals: { readonly changes: number; readonly kept: number }
  answered(sent: CachedQuestion): void
}

/** A question on its way, with what was known when it was asked. */
export class CachedQuestion implements Question, AnsweredQuestion {
  readonly charges: readonly Charge[]
  readonly intent: Intent
  readonly changes: number
  /** How many refusals had been kept. */
  readonly kept: number
  /** Is a refusal of it to be kept? */
  readonly repeats: boolean
  /** Does a refusal rest on one of its keys already? */
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
