/** An answer that may have to be waited for. The public types say which it is; inside, both go one way. */
export type Maybe<T> = T | Promise<T>

/** Goes on now with a value, later with a promise. */
export function andThen<T, U>(value: Maybe<T>, next: (value: T) => Maybe<U>): Maybe<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** All values: now where all are there, later where one has to be waited for. */
export function allOf<T>(values: readonly Maybe<T>[]): Maybe<T[]> {
  return values.some(value => value instanceof Promise) ? Promise.all(values) : (values as T[])
}
