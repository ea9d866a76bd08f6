import { slidingLog } from 'sluice'
import type { BenchCase } from '../bench-case.ts'
import { keysOf } from '../keys.ts'
import { print } from '../report.ts'
import { bytesOf } from './bytes.ts'
import { decisions } from './decisions.ts'
import { IN_FLIGHT } from './load.ts'
import { atServer } from './site.ts'
import { sluiceWithEntries } from './sluice.ts'
import { sortedSetLog } from './sorted-set-log.ts'

const LIMIT = 1000
const WINDOW_MS = 3_600_000
const policy = slidingLog({ limit: LIMIT, window: `${WINDOW_MS}ms` })
/** Redis makes every decision, refusals included. */
const options = { denyCache: false } as const

/** Long enough for Redis to keep the sorted set as a skip list, as in practice, and with room for a whole run. */
const SOME_ENTRIES = 200

export const logCases: readonly BenchCase[] = [
  withEntries('sliding log of 1,000, admissions', 4000, SOME_ENTRIES),
  withEntries('sliding log of 1,000, refusals', 200, LIMIT),
  {
    name: 'sliding log of 1,000, bytes of a full key',
    run: () =>
      atServer(async site => {
        const load = { callers: IN_FLIGHT, keys: keysOf(10), latenciesMs: [] }
        const ours = await sluiceWithEntries(policy, LIMIT, { options })(site, load)
        const theirs = await sortedSetLog(WINDOW_MS, LIMIT, LIMIT)(site, load)
        await ours.prepare!()
        await theirs.prepare!()
        const [bytes, theirBytes] = [await bytesOf(site.server, '{*user:*'), await bytesOf(site.server, 'z:user:*')]
        const ratio = theirBytes / bytes
        print({
          bench: 'redis',
          case: 'sliding log of 1,000, bytes of a full key',
          unit: 'bytes/key',
          better: 'less',
          rows: [
            { name: 'sluice', role: 'sluice', value: bytes },
            { name: theirs.name, role: 'peer', value: theirBytes, ratio },
          ],
          aa: null,
        })
      }),
  },
]

function withEntries(name: string, keys: number, entries: number): BenchCase {
  const ours = sluiceWithEntries(policy, entries, { options })
  return decisions(name, { sluice: ours, peers: [sortedSetLog(WINDOW_MS, LIMIT, entries)] }, { keys })
}
