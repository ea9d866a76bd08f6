/** An answer that may come later. The public types say which; internally, both take the same path. */
export type Maybe<T> = T | Promise<T>

/** Continues now with a value, later with a promise. */
export function andThen<T, U>(value: Maybe<T>, next: (value: T) => Maybe<U>): Maybe<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** All values: now if all are there, later if one is a promise. */
export function allOf<T>(values: readonly Maybe<T>[]): Maybe<T[]> {
  return values.some(value => value instanceof Promise) ? Promise.all(values) : (values as T[])
}
