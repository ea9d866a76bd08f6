import { type Clock, leakyBucket, type Store } from 'sluice'
import { shape } from 'sluice/client'

export interface Mail {
  readonly to: string
  readonly kind: 'password-reset' | 'newsletter'
}

export interface OutboxOptions {
  /** `redisStore(client)` shares the rate with other processes. */
  store?: Store
  clock?: Clock
  onPressure?: (pressure: { high: boolean; depth: number }) => void
}

/**
 * The provider takes 14 mails a second and ten at once. Mails wait here, so that the provider refuses none. A password
 * reset is sent before 400 waiting newsletters.
 */
export function createOutbox(deliver: (mail: Mail) => Promise<void>, options: OutboxOptions = {}) {
  const send = shape(deliver, {
    policy: leakyBucket({ capacity: 500, leak: '14/s' }),
    ...{ concurrency: 10, maxBacklog: 450, name: 'mail' },
    ...options,
  })
  return {
    send: (mail: Mail) => send.with({ priority: mail.kind === 'password-reset' ? 1 : 0 })(mail),
    /** Sends the waiting mails, then ends. */
    shutDown: () => send.drain(),
  }
}
