import { describe, test } from 'vitest'
import { forgetting } from '../../fixtures/redis/forgetting.ts'
import { client, withOwnServer } from '../../fixtures/redis/own-server.ts'
import { timedStore } from '../../fixtures/redis/timed-store.ts'
import { playTogether, Twins } from '../../fixtures/redis/twins.ts'
import type { Policy } from '../../index.ts'
import { KINDS } from '../../testing/trace.ts'

withOwnServer()

const STEPS = 1000
/** Plays a trace for each seed. */
async function play(kind: Policy['kind'], seeds: readonly number[], between?: (twins: Twins) => Promise<unknown>) {
  await client.flushall()
  const open = (seed: number) => new Twins(seed, kind, STEPS, (clock, prefix) => timedStore(client, clock, { prefix }))
  await playTogether(seeds.map(open), between)
}

describe.each(KINDS)('a %s limit in Redis gives the verdicts of the one in memory', kind => {
  test('over a thousand steps', { timeout: 60_000 }, () => play(kind, [1, 2, 3, 10, 14, 30, 67]))

  test('though no key ever expires', { timeout: 60_000 }, () => play(kind, [5, 6], twins => client.persist(twins.name)))

  test('though keys are forgotten as soon as they may be', { timeout: 60_000 }, () =>
    play(kind, [7, 8, 9, 10, 49], forgetting(client)),
  )
})
