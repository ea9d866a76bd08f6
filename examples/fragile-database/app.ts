import { type Clock, leakyBucket } from 'sluice'
import { shape } from 'sluice/client'

export type Row = Readonly<Record<string, unknown>>

/**
 * Writes to a database that breaks when it is hurried: two at once at most, spaced evenly. While few wait it is spared; when
 * many do, it is asked for all it can bear. A row that would be ten seconds old is refused, so that the caller can say so.
 */
export function gentleWriter(write: (row: Row) => Promise<void>, clock?: Clock) {
  return shape(write, {
    policy: depth => leakyBucket({ capacity: 1000, leak: depth < 10 ? '10/s' : '40/s' }),
    ...{ concurrency: 2, maxWait: '10s', name: 'writes' },
    ...(clock && { clock }),
  })
}
