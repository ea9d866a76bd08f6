import fc from 'fast-check'
import { Redis } from 'ioredis'
import { memoryStore } from 'sluice'
import { redisStore } from 'sluice/redis'
import { fakeClock, random } from 'sluice/testing'
import { type RedisServer, startRedis } from 'sluice-harness'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { CellOracle } from '../../fixtures/resp/cell-oracle.ts'
import { deskOver } from '../../fixtures/resp/context.ts'
import { RawClient } from '../../fixtures/resp/raw-client.ts'
import { startResp } from '../server.ts'
import { storeThrottle } from './store-throttle.ts'

describe('over a store whose clock stands still', () => {
  const plan = fc.record({
    maxBurst: fc.oneof(fc.integer({ min: -1, max: 20 }), fc.constantFrom(1000, 100_000)).map(BigInt),
    /** Whole microseconds a request: what is finer is rounded up before it becomes seconds. */
    count: fc.constantFrom(1n, 2n, 5n, 10n, 60n, 1000n, 1_000_000n),
    period: fc.constantFrom(1n, 3n, 60n, 3600n, 86_400n, 2_592_000n),
  })
  // A bucket of the library drains within 17 years.
  const drainable = plan.filter(({ maxBurst, count, period }) => ((maxBurst + 1n) * period) / count < 500_000_000n)
  const step = fc.record({
    advanceMs: fc.oneof(
      fc.constant(0),
      fc.integer({ min: 0, max: 30_000_000 }).map(us => us / 1000),
    ),
    key: fc.constantFrom('a', 'b'),
    quantity: fc.oneof(fc.constant(1n), fc.integer({ min: -4, max: 30 }).map(BigInt)),
  })

  test('every reply is that of the oracle, one limit a key', async () => {
    await fc.assert(
      fc.asyncProperty(drainable, drainable, fc.array(step, { maxLength: 40 }), async (a, b, trace) => {
        const clock = fakeClock(1_700_000_000_000)
        const { ask } = deskOver(storeThrottle(memoryStore({ clock })))
        const oracle = new CellOracle()
        for (const { advanceMs, key, quantity } of trace) {
          clock.advance(advanceMs)
          const call = {
            ...(key === 'a' ? a : b),
            key,
            quantity,
            nowNs: BigInt(Math.round(clock.now() * 1000)) * 1000n,
          }
          const args = [call.maxBurst, call.count, call.period, quantity].map(String)
          expect(await ask('CL.THROTTLE', key, ...args)).toBe(oracle.reply(call))
        }
      }),
      { numRuns: 300 },
    )
  })

  test('intervals that are no whole microseconds are exact to the nanosecond', async () => {
    const clock = fakeClock(1_700_000_000_000)
    const { ask } = deskOver(storeThrottle(memoryStore({ clock })))
    const oracle = new CellOracle()
    const call = { key: 'k', maxBurst: 20n, count: 7n, period: 1n }
    const next = random(7)
    // Limited, limit, remaining: the seconds are rounded up to a microsecond first.
    const three = (reply: string) => reply.split('\r\n').slice(1, 4).join(' ')
    for (let i = 0; i < 3000; i++) {
      clock.advance(Math.ceil(Math.floor(next() * 6) * 142_857.142) / 1000)
      const quantity = BigInt(Math.floor(next() * 4))
      const nowNs = BigInt(Math.round(clock.now() * 1000)) * 1000n
      const reply = await ask('CL.THROTTLE', 'k', '20', '7', '1', String(quantity))
      expect([i, three(reply)]).toEqual([i, three(oracle.reply({ ...call, quantity, nowNs }))])
    }
  })

  const opened = () => deskOver(storeThrottle(memoryStore({ clock: fakeClock(1e12) })))

  test.each([
    ['1 1000001 1', 'Cell error: More than 1000000 a second are not supported here'],
    ['1 1 31622401', 'Cell error: Less than 1 in 366 days is not supported here'],
    ['1 1 9223372036854775807', 'Cell error: Less than 1 in 366 days is not supported here'],
  ])('%s is refused', async (args, message) => {
    expect(await opened().ask('CL.THROTTLE', 'k', ...args.split(' '))).toBe(`-${message}\r\n`)
  })

  test.each([
    ['9 1000000 1', '0 10 9 -1 0'],
    ['0 1 31622400', '0 1 0 -1 31622400'],
    ['2 7 86400000', '0 3 2 -1 12342858'], // no whole number of microseconds, and too long for a thousand of them
    ['9223372036854775807 1 1', '0 9223372036854775807 562949952 -1 1'],
    ['9223372036854775807 1 1 9223372036854775807', '1 9223372036854775807 562949953 -1 0'],
    ['4 1 1 -9223372036854775808', '0 5 5 -1 0'],
    ['-9223372036854775808 1 1', '1 -9223372036854775807 0 -1 0'],
    ['-5 1 1 0', '1 -4 0 -1 0'],
  ])('%s is answered with %s', async (args, five) => {
    expect(await opened().ask('CL.THROTTLE', 'k', ...args.split(' '))).toBe(
      `*5\r\n:${five.replaceAll(' ', '\r\n:')}\r\n`,
    )
  })

  test('a key that comes back under another rate brings along what it has used', async () => {
    const { ask } = opened()
    expect(await ask('CL.THROTTLE', 'k', '9', '1', '1', '6')).toBe('*5\r\n:0\r\n:10\r\n:4\r\n:-1\r\n:6\r\n')
    expect(await ask('CL.THROTTLE', 'k', '9', '1', '2', '0')).toBe('*5\r\n:0\r\n:10\r\n:4\r\n:-1\r\n:12\r\n')
    expect(await ask('DEL', 'k', 'other', 'k')).toBe(':1\r\n')
    expect(await ask('CL.THROTTLE', 'k', '9', '1', '1', '0')).toBe('*5\r\n:0\r\n:10\r\n:10\r\n:-1\r\n:0\r\n')
  })
})

describe('over Redis', () => {
  let redis: RedisServer
  const open: (() => unknown)[] = []

  beforeAll(async () => {
    redis = await startRedis()
  })

  afterEach(async () => {
    for (const close of open.splice(0).reverse()) await close()
  })

  afterAll(() => redis.stop())

  async function connected(options: Parameters<typeof storeThrottle>[1] = {}) {
    const client = new Redis({ host: redis.host, port: redis.port })
    const store = redisStore(client, { onEvent: () => {} })
    const server = await startResp({ throttle: storeThrottle(store, options), port: 0 })
    const raw = await RawClient.connected(server.port!)
    open.push(
      () => client.disconnect(),
      () => store.close(),
      () => server.close(0),
      () => raw.close(),
    )
    return { raw, server }
  }

  const limitedOrNot = (text: string) => [...text.matchAll(/\*5\r\n:(\d)/g)].map(([, flag]) => flag).join('')

  test('two processes share one limit', async () => {
    const [one, other] = [await connected(), await connected()]
    const command = 'CL.THROTTLE shared 4 1 3600\r\n'
    one.raw.send(command.repeat(3)).send('PING\r\n')
    expect(limitedOrNot(await one.raw.until('+PONG\r\n'))).toBe('000')
    other.raw.send(command.repeat(3)).send('PING\r\n')
    expect(limitedOrNot(await other.raw.until('+PONG\r\n'))).toBe('001')
  })

  test('a pipeline is answered in order, DEL and giving back among it', async () => {
    const { raw } = await connected()
    const call = 'CL.THROTTLE piped 1 1 3600'
    const lines = [
      call,
      call,
      call,
      'DEL piped',
      call,
      `${call} 2`,
      `${call} -1`,
      `${call} 2`,
      'DEL piped nobody',
      'PING',
    ]
    const text = await raw.send(`${lines.join('\r\n')}\r\n`).until('+PONG\r\n')
    // Limited, limit, remaining; the seconds depend on how long it took.
    const shown = text.replace(/\*5\r\n:(\d)\r\n:(\d)\r\n:(\d)\r\n:-?\d+\r\n:\d+\r\n/g, '$1$2$3 ')
    expect(shown).toBe('021 020 120 :1\r\n021 121 022 020 :1\r\n+PONG\r\n')
  })

  test('a thousand calls at once admit exactly what the limit says', async () => {
    const { raw, server } = await connected()
    raw.send('CL.THROTTLE crowd 99 1 3600\r\n'.repeat(1000)).send('PING\r\n')
    expect(limitedOrNot(await raw.until('+PONG\r\n'))).toBe('0'.repeat(100) + '1'.repeat(900))
    expect(server.stats()).toMatchObject({ allowed: 100, limited: 900, failed: 0 })
  })

  test('binary keys stay apart', async () => {
    const { raw } = await connected()
    const call = (key: string) => `CL.THROTTLE "${key}" 0 1 3600\r\n`
    raw.send([call('\\xff'), call('\\xfe'), call('\\xef\\xbf\\xbd'), call('\\xff'), 'PING\r\n'].join(''))
    expect(limitedOrNot(await raw.until('+PONG\r\n'))).toBe('0001')
  })

  test.each([
    ['closed', '1'],
    ['open', '0'],
  ] as const)(
    'while Redis is away, the answer is that of onOutage %s, and DEL says it cannot',
    async (onOutage, flag) => {
      const { raw } = await connected({ onOutage })
      raw.send('CL.THROTTLE away 4 1 3600\r\nPING\r\n')
      await raw.until('+PONG\r\n')
      redis.pause()
      open.push(() => redis.resume())
      raw.send('CL.THROTTLE away 4 1 3600\r\nDEL away\r\nPING\r\n')
      const text = await raw.until('+PONG\r\n')
      expect(limitedOrNot(text)).toBe(flag)
      expect(text).toMatch(/\r\n-ERR .*\[SLUICE_STORE_/)
    },
  )
})
