import { expected } from '../../errors.ts'

/** The answer of a user's function that must not be async. A promise is refused later; if it rejects, the process goes on. */
export function answered<T>(answer: T): T {
  if (answer instanceof Promise) answer.catch(() => {})
  return answer
}

/** The same where only true and false mean something. */
export function yesOrNo(what: string, answer: unknown): boolean {
  if (typeof answer === 'boolean') return answer
  throw expected('SLUICE_BAD_OPTION', `${what} to answer true or false`, answered(answer))
}
