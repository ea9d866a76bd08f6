import { type Clock, leakyBucket } from 'sluice'
import { shape } from 'sluice/client'

export type Row = Readonly<Record<string, unknown>>

/**
 * Writes to a database that breaks under too much load: at most two writes at once, evenly spaced. While few writes
 * wait, they start slowly. When many wait, they start as fast as the database can bear. A write that would wait ten
 * seconds is refused, so that the caller can report it.
 */
export function gentleWriter(write: (row: Row) => Promise<void>, clock?: Clock) {
  return shape(write, {
    policy: depth => leakyBucket({ capacity: 1000, leak: depth < 10 ? '10/s' : '40/s' }),
    ...{ concurrency: 2, maxWait: '10s', name: 'writes' },
    ...(clock && { clock }),
  })
}
