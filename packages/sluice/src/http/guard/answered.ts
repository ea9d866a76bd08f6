import { expected } from '../../errors.ts'

/** What a function of the user answered. A promise comes too late to be one; should it reject, that ends no process. */
export function answered<T>(said: T): T {
  if (said instanceof Promise) said.catch(() => {})
  return said
}

/** The same where only true and false mean something: all else must not be taken for either. */
export function yesOrNo(what: string, said: unknown): boolean {
  if (typeof said === 'boolean') return said
  throw expected('SLUICE_BAD_OPTION', `${what} to answer true or false`, answered(said))
}
