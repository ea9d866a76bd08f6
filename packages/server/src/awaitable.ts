/** A value or a promise of it: a store in this process answers at once, a remote one later. */
export type Awaitable<T> = T | Promise<T>

export function andThen<T, U>(value: Awaitable<T>, next: (value: T) => Awaitable<U>): Awaitable<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}
