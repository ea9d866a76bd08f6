import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { type RedisServer, startRedis } from 'sluice-harness'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { ioredis } from '../../../fixtures/redis/clients.ts'
import { createLimiter, type Decision, type Limiter } from '../../../index.ts'
import { ofEveryKind } from '../../../testing/store-suite/policies.ts'
import type { StoreEvent } from '../../remote/remote-store.ts'
import { redisStore } from '../redis-store.ts'

/** A real server whose clock is so many milliseconds off ours, as the file says at the moment. */
const dir = mkdtempSync(join(tmpdir(), 'sluice-clock-'))
const file = join(dir, 'offset')
let server: RedisServer
let client: Redis
let offsetMs = 0

function goTo(ms: number): void {
  offsetMs = ms
  writeFileSync(file, `${ms < 0 ? '' : '+'}${(ms / 1000).toFixed(6)}`)
}

beforeAll(async () => {
  goTo(0)
  const preload = execFileSync('faketime', ['-f', '+0', 'printenv', 'LD_PRELOAD'], { encoding: 'utf8' }).trim()
  server = await startRedis({
    env: {
      // jemalloc asks for the time while the library is not ready yet: the allocator of the C library does not.
      LD_PRELOAD: `${preload} libc.so.6`,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
  })
  client = await ioredis(server)
})

afterAll(async () => {
  client.disconnect()
  await server.stop()
  rmSync(dir, { recursive: true })
})

beforeEach(async () => {
  goTo(0)
  await client.flushall()
})

const HOUR_MS = 3_600_000
/** How often the latest time is written down. Between, each key holds its own. */
const WRITTEN_EVERY_MS = 50
const WINDOW_MS = 60_000

/** Takes until it is refused. */
async function exhaust(limiter: Limiter<string, 'async'>, key: string): Promise<Decision> {
  for (let n = 0; n < 100; n++) {
    const decision = await limiter.consume(key)
    if (!decision.allowed) return decision
  }
  throw new Error('a limit of 3 let 100 pass')
}

const policies = ofEveryKind(3, WINDOW_MS).map(policy => [policy.kind, JSON.stringify(policy), policy] as const)

test.each(policies)('a clock that was an hour ahead for a moment locks nobody out: %s %s', async (_, __, policy) => {
  const events: StoreEvent[] = []
  const store = redisStore(client, { deadline: '5s', denyCache: false, onEvent: event => events.push(event) })
  const limiter = createLimiter(policy, { store })
  await exhaust(limiter, 'a')
  goTo(HOUR_MS)
  await exhaust(limiter, 'a')
  goTo(0)
  const refused = await limiter.consume('a')
  // What was used up while the clock was wrong is not handed out again, and is not kept for an hour either.
  expect(refused.allowed).toBe(false)
  expect(refused.retryAfterMs).toBeGreaterThan(0)
  expect(refused.retryAfterMs).toBeLessThanOrEqual(2 * WINDOW_MS)
  goTo(refused.retryAfterMs / 2)
  const halfWay = await limiter.consume('a')
  expect(halfWay.allowed).toBe(false)
  expect(halfWay.retryAfterMs).toBeLessThanOrEqual(refused.retryAfterMs / 2 + WRITTEN_EVERY_MS)
  goTo(refused.retryAfterMs + WRITTEN_EVERY_MS)
  expect((await limiter.consume('a')).allowed).toBe(true)
  expect(events).toMatchObject([{ type: 'clock-set-back' }])
  expect(Math.abs((events[0] as { byMs: number }).byMs - HOUR_MS)).toBeLessThan(WINDOW_MS)
  await store.close()
})

test('a clock set back by less than a second stands still until it is there again', async () => {
  const events: StoreEvent[] = []
  const store = redisStore(client, { deadline: '5s', denyCache: false, onEvent: event => events.push(event) })
  const limiter = createLimiter('3/m', { store })
  const { at } = await limiter.consume('a')
  goTo(-900)
  const again = await limiter.consume('a')
  expect(again.at).toBeGreaterThanOrEqual(at - WRITTEN_EVERY_MS)
  expect(await client.strlen('{0}sluice:clock')).toBe(8)
  expect(events).toEqual([])
  await store.close()
})

test('one that is set back again and again loses nothing of the time between', async () => {
  const store = redisStore(client, { deadline: '5s', denyCache: false, onEvent: () => {} })
  const limiter = createLimiter('3/m', { store })
  await exhaust(limiter, 'a')
  let last = 0
  let retryMs = 0
  for (let hours = 0; hours < 5; hours++) {
    goTo(-hours * HOUR_MS)
    const { at, allowed, retryAfterMs } = await limiter.consume('a')
    expect(allowed).toBe(false)
    expect(at).toBeGreaterThanOrEqual(last - WRITTEN_EVERY_MS)
    last = at
    retryMs = retryAfterMs
  }
  goTo(offsetMs + retryMs + WRITTEN_EVERY_MS)
  expect((await limiter.consume('a')).allowed).toBe(true)
  expect(await client.strlen('{0}sluice:clock')).toBe(16)
  await store.close()
})
