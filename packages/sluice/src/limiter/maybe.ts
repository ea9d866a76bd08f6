/** An answer that may have to be waited for. The public types say which it is; inside, both go one way. */
export type Maybe<T> = T | Promise<T>

/** Goes on now with a value, later with a promise. */
export function andThen<T, U>(value: Maybe<T>, next: (value: T) => U): Maybe<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}
