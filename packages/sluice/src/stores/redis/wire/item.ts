import { StoreUnavailable } from '../../../errors.ts'
import type { Change, Question } from '../../store.ts'
import { concluded, wordsOf } from './changes.ts'
import { FOREIGN } from './verdicts.ts'

/** A change to send, and the callback for its answer. */
export interface SentChange {
  readonly change: Change
  /** The arguments for the script, as they were when the change was asked for. */
  readonly words: readonly (string | number)[]
  readonly done: (amount: number) => void
  readonly failed: (error: StoreUnavailable) => void
}

/** What a shard is asked: a decision or a change. */
export type BatchItem = Question | SentChange

export function chargesIn(item: BatchItem): number {
  return 'change' in item ? 1 : item.charges.length
}

export function changeItem(change: Change, done: SentChange['done'], failed: SentChange['failed']): BatchItem {
  return { change, words: wordsOf(change), done, failed }
}

export function failItem(item: BatchItem, error: StoreUnavailable): void {
  if ('change' in item) {
    item.failed(error)
    return
  }
  for (const charge of item.charges) charge.fault ??= error
  item.done()
}

/** Passes on the server's answer to a change. */
export function conclude({ change, done, failed }: SentChange, amount: number, now: number): void {
  if (amount !== FOREIGN) done(concluded(change, amount, now))
  else failed(new StoreUnavailable('SLUICE_FOREIGN_VALUE', 'a foreign value stands at the key'))
}
