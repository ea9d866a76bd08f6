import * as peer from 'rate-limiter-flexible'
import { describe, expect, test } from 'vitest'
import * as compat from '../rate-limiter-flexible.ts'

const { RateLimiterMemory, RateLimiterQueue, RateLimiterUnion } = compat
type Package = Pick<typeof compat, 'RateLimiterMemory' | 'RateLimiterQueue' | 'RateLimiterUnion'>
const PACKAGES: readonly Package[] = [compat, peer as unknown as Package]

const SECOND = { keyPrefix: 'second', points: 2, duration: 1 }
const MINUTE = { keyPrefix: 'minute', points: 3, duration: 60 }

/** What each limit has left, or the names of those that refuse. */
function left(asked: Promise<Record<string, compat.RateLimiterRes>>): Promise<unknown> {
  return asked.then(
    results => Object.entries(results).map(([prefix, { remainingPoints }]) => [prefix, remainingPoints]),
    (refused: object) => Object.keys(refused),
  )
}

describe('a union', () => {
  test('answers by keyPrefix, and rejects with those that refuse, as theirs', async () => {
    const answers = PACKAGES.map(async ({ RateLimiterMemory, RateLimiterUnion }) => {
      const union = new RateLimiterUnion(new RateLimiterMemory(SECOND), new RateLimiterMemory(MINUTE))
      const [first, second, both] = [union.consume('a'), union.consume('a'), union.consume('a', 4)]
      return [await left(first), await left(second), await left(both)]
    })
    const [ours, theirs] = await Promise.all(answers)
    expect(ours).toEqual(theirs)
    expect(ours![2]).toEqual(['second', 'minute'])
  })

  test('counts where its limiters do, in all of them or in none', async () => {
    const [second, minute] = [new RateLimiterMemory(SECOND), new RateLimiterMemory(MINUTE)]
    const union = new RateLimiterUnion(second, minute)
    await second.consume('a', 2)
    await expect(union.consume('a')).rejects.toEqual({ second: expect.any(compat.RateLimiterRes) })
    expect(await minute.get('a')).toBeNull()
    await second.delete('a')
    await union.consume('a')
    expect(await minute.get('a')).toMatchObject({ consumedPoints: 1 })
    await minute.block('a', 30)
    await expect(union.consume('a')).rejects.toEqual({ minute: expect.any(compat.RateLimiterRes) })
    expect(await second.get('a')).toMatchObject({ consumedPoints: 1 })
  })

  test.each<[string, () => unknown]>([
    ['none', () => new RateLimiterUnion()],
    ['theirs', () => new RateLimiterUnion(new peer.RateLimiterMemory(SECOND) as never)],
    ['two of one keyPrefix', () => new RateLimiterUnion(new RateLimiterMemory(MINUTE), new RateLimiterMemory(MINUTE))],
  ])('of %s is refused', (_, make) => {
    expect(make).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }))
  })
})

describe('a queue', () => {
  /** What each of these calls at once comes to: what is left, or that it was refused, in the order in which it is known. */
  async function outcomes(
    { RateLimiterMemory, RateLimiterQueue }: Package,
    tokens: readonly number[],
    options: { maxQueueSize?: number } = {},
    expiresUnixAt?: number,
  ): Promise<unknown[]> {
    const queue = new RateLimiterQueue(new RateLimiterMemory({ points: 2, duration: 0.2 }), options)
    const known: unknown[] = []
    const calls = tokens.map(async (count, index) => {
      const outcome = await queue
        .removeTokens(count, 'a', expiresUnixAt)
        .catch((error: Error) => error.constructor.name)
      known.push([index, outcome])
    })
    await Promise.all(calls)
    expect(await queue.getTokensRemaining('b')).toBe(2)
    return known
  }

  test.each<[says: string, tokens: number[], options: object, last: unknown]>([
    ['lets calls wait for their tokens, in order', [1, 1, 1, 1, 1], {}, [4, 1]],
    ['lets nobody overtake', [1, 2, 1], {}, [2, 1]],
    ['refuses who finds it full', [2, 2, 2], { maxQueueSize: 1 }, [1, 0]],
    ['refuses more than there can be', [3, 1], {}, [1, 1]],
  ])('%s, as theirs', async (_, tokens, options, last) => {
    const [ours, theirs] = await Promise.all(PACKAGES.map(one => outcomes(one, tokens, options)))
    expect(ours).toEqual(theirs)
    expect(ours!.at(-1)).toEqual(last)
  })

  test('refuses at once who would have to wait for too long', async () => {
    expect(await outcomes(compat, [2, 1], {}, 1)).toEqual([
      [0, 0],
      [1, 'RateLimiterQueueError'],
    ])
    expect(await outcomes(compat, [2, 1], {}, 1e12)).toEqual([
      [0, 0],
      [1, 1],
    ])
  })

  test('tells what is left, and forgets who has waited', async () => {
    const limiter = new RateLimiterMemory({ points: 2, duration: 0.05 })
    const queue = new RateLimiterQueue(limiter, { maxQueueSize: 1 })
    for (let n = 0; n < 4; n++) {
      await queue.removeTokens(2)
      expect(await queue.removeTokens(2)).toBe(0)
    }
  })

  test.each<[string, () => unknown]>([
    ['of theirs', () => new RateLimiterQueue(new peer.RateLimiterMemory(SECOND) as never)],
    ['of a size that is none', () => new RateLimiterQueue(new RateLimiterMemory(SECOND), { maxQueueSize: NaN })],
  ])('%s is refused', (_, make) => {
    expect(make).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }))
  })
})
