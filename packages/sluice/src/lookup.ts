import { after, type Clock } from './clock.ts'
import { expected, SluiceError } from './errors.ts'
import type { Maybe } from './maybe.ts'

/** How long a user's function may take to answer if it answers with a promise. */
export interface LookupTime {
  readonly clock: Clock
  readonly deadlineMs: number
}

/** What a user's function answered, if it answered at once; otherwise a promise, which rejects at the deadline. */
export function inTime<T>(answer: T | PromiseLike<T>, what: string, { clock, deadlineMs }: LookupTime): Maybe<T> {
  if (!isThenable(answer)) return answer
  const found = new Promise<T>((resolve, reject) => {
    const late = () =>
      reject(new SluiceError('SLUICE_LOOKUP_TIMEOUT', `${what} gave no answer within ${deadlineMs} ms`))
    const cancel = after(clock, deadlineMs, late)
    void Promise.resolve(answer).then(resolve, reject).finally(cancel)
  })
  return answered(found)
}

/** The answer of a user's function that must not be async. A promise is refused by name, even if it rejects later. */
export function atOnce<T>(answer: T, what: string, advice: string): T {
  if (!isThenable(answer)) return answer
  throw expected('SLUICE_BAD_OPTION', `${what} to answer at once`, answered(answer), advice)
}

/** Returns an answer that may be left alone: if it is a promise that rejects, the process goes on. */
export function answered<T>(answer: T): T {
  if (isThenable(answer)) Promise.resolve(answer).catch(() => {})
  return answer
}

/** An answer where only true and false mean something. */
export function yesOrNo(what: string, answer: unknown): boolean {
  if (typeof answer === 'boolean') return answer
  throw expected('SLUICE_BAD_OPTION', `${what} to answer true or false`, answered(answer))
}

/** Query builders are no promises, but can be awaited. */
function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}
