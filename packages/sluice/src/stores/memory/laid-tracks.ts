import type { Rule } from '../../algorithms/rule.ts'
import type { Limit } from '../store.ts'
import { BucketTrack } from './bucket-track.ts'
import { FixedTrack } from './fixed-track.ts'
import { SlidingTrack } from './sliding-track.ts'
import type { Track } from './track.ts'

/** A limit that an express lane can be made for: it is not nothing, and a refusal starts no block. */
export function isPlain(limit: Limit, rule: Rule): boolean {
  return rule.limit > 0 && limit.block === undefined
}

/** The tracks of several limits, in their order; undefined where one of them can have none. */
export function tracksOf(limits: readonly { limit: Limit; rule: Rule }[]): Track[] | undefined {
  const tracks: Track[] = []
  let first = 0
  for (const { limit, rule } of limits) {
    const track = isPlain(limit, rule) ? trackOf(limit, rule, first) : undefined
    if (track === undefined) return undefined
    tracks.push(track)
    first += track.width
  }
  return tracks
}

function trackOf(limit: Limit, rule: Rule, first: number): Track | undefined {
  switch (rule.kind) {
    case 'bucket':
      return new BucketTrack(limit, rule, first)
    case 'fixed':
      return new FixedTrack(limit, rule, first)
    case 'sliding':
      return new SlidingTrack(limit, rule, first)
    default:
      return undefined
  }
}
