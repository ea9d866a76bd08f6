import { beforeEach, describe, test } from 'vitest'
import { client, withOwnServer } from './fixtures/own-server.ts'
import { PLAIN_LIMITS, playPlainCalls, SET_BACK, setBack } from './fixtures/plain-calls.ts'

withOwnServer()

beforeEach(async () => {
  await client.flushall()
})

describe.each([1, 2, 3])('calls of plain decisions get the verdicts of the memory store, trace %i', seed => {
  test.each(PLAIN_LIMITS)('%s', (...limit) => playPlainCalls(client, limit, { seed, turns: 300 }))
})

test.each(SET_BACK)('a clock that was set back, and forgotten, gives a plain $kind nothing', policy =>
  setBack(client, policy),
)
