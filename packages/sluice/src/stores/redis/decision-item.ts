import type { Charge } from '../charge.ts'
import type { Intent, Question } from '../store.ts'
import type { Asked } from './verdicts.ts'

const NOT_YET: readonly number[] = []

/**
 * A decision in a call: the question, and what the call makes of it.
 *
 * A class where a literal would do. Literals that have often outlived a scavenge the engine may make as old objects, and an
 * old object, though dead, keeps all it refers to. With a literal here two of five runs of the bench promoted nearly every
 * decision, at twice the client's time; with the class none of eight did.
 */
export class DecisionItem implements Asked {
  readonly charges: readonly Charge[]
  readonly intent: Intent
  keys: readonly number[]
  ids: readonly number[] | undefined
  private readonly question: Question

  constructor(question: Question) {
    this.charges = question.charges
    this.intent = question.intent
    this.keys = NOT_YET
    this.ids = undefined
    this.question = question
  }

  done(): void {
    this.question.done()
  }
}
