import { Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import { leakyBucket, type Store } from 'sluice'
import { shape } from 'sluice/client'

export const QUEUE = 'text-messages'
/** The carrier's limit for all workers of all processes. */
export const CARRIER = leakyBucket({ capacity: 100_000, leak: '50/s' })

export interface TextMessage {
  readonly to: string
  readonly text: string
}

/**
 * One worker process. All worker processes together start 50 messages a second, however many there are. Each job books
 * its start in the store, so the queue need not put back, delay or count jobs. A worker takes as many jobs as may run
 * or wait.
 */
export function startWorker(connection: Redis, store: Store, send: (message: TextMessage) => Promise<void>) {
  const paced = shape(send, { policy: CARRIER, store, name: 'carrier' })
  const worker = new Worker<TextMessage>(QUEUE, job => paced(job.data), { connection, concurrency: 20 })
  // Jobs that wait for their start hold a lock, which the worker renews; closing lets them finish.
  return {
    worker,
    async stop() {
      await worker.close()
      await paced.drain()
    },
  }
}
