import { StoreUnavailable } from '../../../errors.ts'
import type { Change, Question } from '../../store.ts'
import { concluded, wordsOf } from './changes.ts'
import { FOREIGN } from './verdicts.ts'

/** A change on its way, and whom to tell. */
export interface Sent {
  readonly change: Change
  /** What the script is told of it, as it was when it was asked for. */
  readonly words: readonly (string | number)[]
  readonly done: (amount: number) => void
  readonly failed: (error: StoreUnavailable) => void
}

/** What is asked of a shard: a decision or a change. */
export type Item = Question | Sent

export function chargesIn(item: Item): number {
  return 'change' in item ? 1 : item.charges.length
}

export function changeItem(change: Change, done: Sent['done'], failed: Sent['failed']): Item {
  return { change, words: wordsOf(change), done, failed }
}

export function failItem(item: Item, error: StoreUnavailable): void {
  if ('change' in item) {
    item.failed(error)
    return
  }
  for (const charge of item.charges) charge.fault ??= error
  item.done()
}

/** Tells what the server made of a change. */
export function conclude({ change, done, failed }: Sent, amount: number, now: number): void {
  if (amount !== FOREIGN) done(concluded(change, amount, now))
  else failed(new StoreUnavailable('SLUICE_FOREIGN_VALUE', 'a foreign value stands at the key'))
}
