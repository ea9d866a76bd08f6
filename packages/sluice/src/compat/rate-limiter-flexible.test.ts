import * as peer from 'rate-limiter-flexible'
import { startRedis } from 'sluice-harness'
import { describe, expect, test } from 'vitest'
import { ioredis } from '../fixtures/redis/clients.ts'
import { redisStore } from '../stores/redis/index.ts'
import * as compat from './rate-limiter-flexible.ts'
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes, RateLimiterUnion } from './rate-limiter-flexible.ts'

const Peer = peer.RateLimiterMemory
type Limiter = Pick<RateLimiterMemory, 'consume' | 'get' | 'set' | 'penalty' | 'reward' | 'block' | 'delete'>
type Step = (limiter: Limiter) => Promise<RateLimiterRes | peer.RateLimiterRes | boolean | null | undefined>

/** What each step gives: times to the second, since the two are not asked at once. */
async function told(limiter: Limiter, steps: readonly Step[]): Promise<unknown[]> {
  const results: unknown[] = []
  for (const step of steps) {
    const result = await step(limiter).then(
      value => ['resolves', value] as const,
      (error: unknown) => ['rejects', error] as const,
    )
    const [how, value] = result
    if (typeof value !== 'object' || value === null) results.push([how, value])
    else {
      const { remainingPoints, msBeforeNext, consumedPoints } = value as RateLimiterRes
      results.push([how, remainingPoints, Math.ceil(msBeforeNext / 1000), consumedPoints])
    }
  }
  return results
}

const consume =
  (points?: number): Step =>
  limiter =>
    limiter.consume('a', points)

const get: Step = limiter => limiter.get('a')
/** What theirs answers to `set` is that no points remain, however many do. */
const set =
  (points: number, seconds: number): Step =>
  limiter =>
    limiter.set('a', points, seconds).then(() => undefined)

describe('gives what rate-limiter-flexible gives', () => {
  test.each<[says: string, steps: readonly Step[]]>([
    ['consume', [consume(), consume(), consume(2)]],
    ['get', [limiter => limiter.get('a'), consume(2), limiter => limiter.get('a'), limiter => limiter.get('b')]],
    ['reward', [consume(3), limiter => limiter.reward('a', 2), consume()]],
    ['penalty', [consume(), limiter => limiter.penalty('a', 2), limiter => limiter.get('a')]],
    ['set', [consume(), set(4, 60), get, consume(), get]],
    ['set to nothing', [consume(5), set(0, 60), consume(4), get]],
    ['set after a block', [limiter => limiter.block('a', 90).then(() => undefined), set(1, 60), consume(3), get]],
    [
      'delete after a block',
      [limiter => limiter.block('a', 90).then(() => undefined), limiter => limiter.delete('a'), consume()],
    ],
    ['delete', [consume(3), limiter => limiter.delete('a'), consume(), limiter => limiter.delete('b')]],
  ])('%s', async (_, steps) => {
    const options = { points: 5, duration: 60 }
    const theirs = await told(new Peer(options) as unknown as Limiter, steps)
    expect(await told(new RateLimiterMemory(options), steps)).toEqual(theirs)
  })

  test('a refusal, but that it consumes nothing', async () => {
    const limiter = new RateLimiterMemory({ points: 2, duration: 60 })
    await limiter.consume('a', 2)
    const refused = await limiter.consume('a').catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(RateLimiterRes)
    expect(refused).toMatchObject({ remainingPoints: 0, consumedPoints: 2, isFirstInDuration: false })
    expect(await new RateLimiterMemory({ points: 2, duration: 60 }).consume('a')).toMatchObject({
      isFirstInDuration: true,
    })
  })

  test('a block', async () => {
    for (const limiter of [new RateLimiterMemory({ points: 5, duration: 1 }), new Peer({ points: 5, duration: 1 })]) {
      await limiter.block('a', 30)
      const refused = await limiter.consume('a').catch((error: unknown) => error as RateLimiterRes)
      expect(Math.ceil(refused.msBeforeNext / 1000)).toBe(30)
    }
  })

  test('a block for ever', async () => {
    for (const limiter of [new RateLimiterMemory({ points: 5, duration: 1 }), new Peer({ points: 5, duration: 1 })]) {
      await limiter.block('a', 0)
      await expect(limiter.consume('a')).rejects.toMatchObject({ remainingPoints: expect.any(Number) })
    }
  })

  test('all points set for another duration, which blocks', async () => {
    for (const Class of [RateLimiterMemory, Peer]) {
      const limiter = new Class({ points: 5, duration: 1 })
      await limiter.set('a', 5, 30)
      const refused = await limiter.consume('a').catch((error: unknown) => error as RateLimiterRes)
      expect(Math.ceil(refused.msBeforeNext / 1000)).toBe(30)
    }
  })

  test('blockDuration, after the first refusal', async () => {
    for (const Class of [RateLimiterMemory, Peer]) {
      const limiter = new Class({ points: 1, duration: 1, blockDuration: 30 })
      await limiter.consume('a')
      await limiter.consume('a').catch(() => {})
      const refused = await limiter.consume('a').catch((error: unknown) => error as RateLimiterRes)
      expect(Math.ceil(refused.msBeforeNext / 1000)).toBe(30)
    }
  })
})

test('two limiters over one Redis share a count', async () => {
  const server = await startRedis()
  const storeClient = await ioredis(server)
  // A deadline that no pause of this machine can miss.
  const store = () => redisStore(storeClient, { deadline: '1m' })
  const limiter = () => new RateLimiterRedis({ store: store(), points: 3, duration: 60, keyPrefix: 'mails' })
  const [one, two] = [limiter(), limiter()]
  expect(await one.consume('a', 2)).toMatchObject({ remainingPoints: 1 })
  expect(await two.consume('a')).toMatchObject({ remainingPoints: 0 })
  await expect(two.consume('a')).rejects.toBeInstanceOf(RateLimiterRes)
  await two.set('a', 1)
  const union = new RateLimiterUnion(one, new RateLimiterRedis({ store: store(), points: 9, duration: 60 }))
  expect(await union.consume('a', 2)).toMatchObject({ mails: { remainingPoints: 0 }, rlflx: { remainingPoints: 7 } })
  await expect(union.consume('a')).rejects.toEqual({ mails: expect.any(RateLimiterRes) })
  expect(await two.get('a')).toMatchObject({ consumedPoints: 3 })
  storeClient.disconnect()
  await server.stop()
})

test.each<[options: object, code: string, message: string]>([
  [{ insuranceLimiter: {} }, 'SLUICE_NOT_SUPPORTED', 'without insuranceLimiter'],
  [{ execEvenly: true }, 'SLUICE_NOT_SUPPORTED', 'use wait()'],
  [{ pints: 5 }, 'SLUICE_BAD_OPTION', "got 'pints'"],
  [{ duration: 60 }, 'SLUICE_BAD_LIMIT', 'limit'],
  [{ points: 5, duration: 0 }, 'SLUICE_BAD_WINDOW', 'window'],
])('%o is refused by name', (options, code, message) => {
  expect(() => new RateLimiterMemory(options as compat.RateLimiterOptions)).toThrow(
    expect.objectContaining({ code, message: expect.stringContaining(message) }),
  )
})

test.each<[says: string, call: (limiter: RateLimiterMemory) => Promise<unknown>, code: string, message: string]>([
  [
    'customDuration',
    limiter => limiter.consume('a', 1, { customDuration: 5 }),
    'SLUICE_NOT_SUPPORTED',
    'customDuration',
  ],
  ['a set for another duration', limiter => limiter.set('a', 1, 5), 'SLUICE_NOT_SUPPORTED', '60 s'],
  ['a set that gives more than all', limiter => limiter.set('a', -1), 'SLUICE_BAD_COST', 'got -1'],
])('%s is refused by name', async (_, call, code, message) => {
  const limiter = new RateLimiterMemory({ points: 5, duration: 60 })
  await expect(call(limiter)).rejects.toMatchObject({ code, message: expect.stringContaining(message) })
})

test('every class of rate-limiter-flexible is here, and those that cannot be made say what to use', () => {
  const own = ['RateLimiterMemory', 'RateLimiterRedis', 'RateLimiterValkey', 'RateLimiterUnion', 'RateLimiterQueue']
  const results = ['RateLimiterRes', 'RateLimiterQueueError']
  const names = Object.keys(peer).filter(name => name !== 'default' && name !== 'module.exports')
  expect(Object.keys(compat).sort()).toEqual(names.sort())
  for (const [name, Class] of Object.entries(compat)) {
    if ([...own, ...results].includes(name)) continue
    expect(() => new (Class as typeof compat.BurstyRateLimiter)()).toThrow(
      expect.objectContaining({
        code: 'SLUICE_NOT_SUPPORTED',
        message: expect.stringMatching(`^${name} .*(use|implement) `),
      }),
    )
  }
})
