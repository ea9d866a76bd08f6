import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { flush, pass } from '../../fixtures/limiter/passing-time.ts'
import { laterMemory } from '../../fixtures/stores/later-memory.ts'
import { concurrency, createLimiter, fixedWindow, leakyBucket, slidingLog, tokenBucket } from '../../index.ts'
import { type FakeClock, fakeClock } from '../../testing/index.ts'

/** What becomes of a promise: when it was kept, or why not. */
function watch(clock: FakeClock, promise: Promise<unknown>) {
  const seen: { at?: number; error?: unknown } = {}
  promise.then(
    () => Object.assign(seen, { at: clock.now() }),
    error => Object.assign(seen, { error }),
  )
  return seen
}

const kinds = [
  { kind: 'tokenBucket', policy: tokenBucket({ capacity: 1, refill: '1/s' }) },
  { kind: 'leakyBucket', policy: leakyBucket({ capacity: 5, leak: '1/s' }) },
  { kind: 'fixedWindow', policy: fixedWindow({ limit: 1, window: '1s' }) },
  { kind: 'slidingLog', policy: slidingLog({ limit: 1, window: '1s' }) },
  { kind: 'concurrency', policy: concurrency({ limit: 1, ttl: '1s' }) },
]

describe.each(kinds)('an aborted wait: $kind', ({ policy }) => {
  const start = () => {
    const clock = fakeClock()
    const limiter = createLimiter(policy, { clock })
    limiter.consume('a')
    return { clock, limiter, abort: new AbortController() }
  }

  test('before it began rejects with the reason and takes nothing', async () => {
    const { limiter } = start()
    const before = limiter.peek('a').toJSON()
    await expect(limiter.wait('a', { signal: AbortSignal.abort('gone') })).rejects.toBe('gone')
    expect(limiter.peek('a').toJSON()).toEqual(before)
  })

  test.each([0, 1, 2, 5, 40])('rejects and gives its place to the next, after %d turns', async turns => {
    const { clock, limiter, abort } = start()
    const left = watch(clock, limiter.wait('a', { signal: abort.signal }))
    const next = watch(clock, limiter.wait('a'))
    for (let i = 0; i < turns; i++) await Promise.resolve()
    abort.abort('gone')
    await pass(clock, 3000)
    expect(left).toEqual({ error: 'gone' })
    expect(next).toEqual({ at: 1000 })
  })

  test('leaves everything as if it had never been', async () => {
    const { clock, limiter, abort } = start()
    const before = limiter.peek('a').toJSON()
    const left = watch(clock, limiter.wait('a', { signal: abort.signal }))
    await flush()
    abort.abort('gone')
    await flush()
    expect(left).toEqual({ error: 'gone' })
    expect(limiter.peek('a').toJSON()).toEqual(before)
  })

  test('half way on lets those behind it move up', async () => {
    const { clock, limiter, abort } = start()
    const waits = [1, 2, 3].map(n => limiter.wait('a', n === 2 ? { signal: abort.signal } : {}))
    const seen = waits.map(wait => watch(clock, wait))
    await pass(clock, 500)
    abort.abort('gone')
    await pass(clock, 500)
    // A slot is free again only when its holder lets go.
    if (policy.kind === 'concurrency') (await waits[0]!).release()
    await pass(clock, 1000)
    const last = policy.kind === 'concurrency' ? 1000 : 2000
    expect(seen).toEqual([{ at: 1000 }, { error: 'gone' }, { at: last }])
  })

  test('after it started changes nothing', async () => {
    const { clock, limiter, abort } = start()
    const wait = limiter.wait('a', { signal: abort.signal })
    await pass(clock, 1000)
    const decision = await wait
    abort.abort()
    await flush()
    expect(decision.allowed).toBe(true)
    expect(limiter.peek('a').resetAfterMs).toBeGreaterThan(0)
  })

  test('leaves no listener behind, nor does one that started or was refused', async () => {
    const { clock, limiter, abort } = start()
    const other = new AbortController()
    watch(clock, limiter.wait('a', { signal: other.signal }))
    watch(clock, limiter.wait('a', { signal: abort.signal }))
    watch(clock, limiter.wait('a', { signal: abort.signal, maxWait: 0 }))
    await flush()
    other.abort()
    await pass(clock, 5000)
    expect(getEventListeners(other.signal, 'abort')).toEqual([])
    expect(getEventListeners(abort.signal, 'abort')).toEqual([])
  })

  test('close rejects all who wait, and they start no more', async () => {
    const { clock, limiter } = start()
    const seen = [1, 2, 3].map(() => watch(clock, limiter.wait('a')))
    await flush()
    limiter.close()
    await pass(clock, 5000)
    const closed = { error: expect.objectContaining({ code: 'SLUICE_CLOSED' }) }
    expect(seen).toEqual([closed, closed, closed])
  })
})

test('a store that fails while somebody waits rejects that wait, and the line goes on', async () => {
  const clock = fakeClock()
  let failing = false
  const store = laterMemory(clock, () => failing)
  const limiter = createLimiter(fixedWindow({ limit: 1, window: '1s' }), { store })
  await limiter.consume('a')
  const [first, second] = [watch(clock, limiter.wait('a')), watch(clock, limiter.wait('a'))]
  await flush()
  failing = true
  clock.advance(1000)
  await Promise.resolve()
  failing = false
  await pass(clock, 3000)
  expect(first.error).toMatchObject({ message: 'no store' })
  expect(second.at).toBe(1000)
})
