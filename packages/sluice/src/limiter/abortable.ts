/** Settles a promise of `abortable`. */
export interface Settle<T> {
  resolve(value: T): void
  reject(reason: unknown): void
}

/** A promise that an abort rejects, with the signal's reason, after undoing what `begin` began. */
export function abortable<T>(
  signal: AbortSignal | undefined,
  begin: (settle: Settle<T>) => { undo(): void },
): Promise<T> {
  if (signal?.aborted) return Promise.reject(signal.reason)
  return new Promise((resolve, reject) => {
    const done = () => signal?.removeEventListener('abort', abort)
    const begun = begin({
      resolve: value => {
        done()
        resolve(value)
      },
      reject: reason => {
        done()
        reject(reason)
      },
    })
    const abort = () => {
      done()
      begun.undo()
      reject(signal!.reason)
    }
    signal?.addEventListener('abort', abort)
  })
}
