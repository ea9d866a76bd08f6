import { Redis } from 'ioredis'
import type { Question, Store } from 'sluice'
import { redisStore } from 'sluice/redis'
import { fakeClock, random } from 'sluice/testing'
import { type RedisServer, startRedis } from 'sluice-harness'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Call, CellOracle } from '../../fixtures/resp/cell-oracle.ts'
import { deskOver } from '../../fixtures/resp/context.ts'
import { RawClient } from '../../fixtures/resp/raw-client.ts'
import { startResp } from '../server.ts'
import { memoryThrottle } from './memory-throttle.ts'
import { storeThrottle } from './store-throttle.ts'

type Step = Omit<Call, 'nowNs'>

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

  /** One trace through a real server and through memory, at the times that the server tells. */
  async function played(trace: readonly Step[]) {
    const client = new Redis({ host: redis.host, port: redis.port })
    open.push(() => client.disconnect())
    await client.ping()
    const inner = redisStore(client, { deadline: false, denyCache: false, onEvent: () => {} })
    const times: number[] = []
    const ask = (question: Question) => {
      const { charges, intent } = question
      const done = () => {
        times.push(charges[0]!.at)
        question.done()
      }
      inner.ask({ charges, intent, done })
    }
    const store: Store<'async'> = Object.assign(Object.create(inner), { ask })
    const clock = fakeClock(0)
    const [overRedis, inMemory, oracle] = [
      deskOver(storeThrottle(store)),
      deskOver(memoryThrottle({ clock })),
      new CellOracle(),
    ]
    const answers: { step: string; redis: string; memory: string; specified: string }[] = []
    for (const { key, maxBurst, count, period, quantity } of trace) {
      const words = ['CL.THROTTLE', `${key} ${runs}`, ...[maxBurst, count, period, quantity].map(String)]
      const answered = await overRedis.ask(...words)
      const now = times.at(-1)!
      clock.advance(now / 1000 - clock.now())
      const specified = oracle.reply({ key, maxBurst, count, period, quantity, nowNs: BigInt(now) * 1000n })
      answers.push({ step: words.join(' '), redis: answered, memory: await inMemory.ask(...words), specified })
    }
    runs++
    return answers
  }
  let runs = 0

  test('every answer is that of memory and of the specification, whatever the parameters of each call', async () => {
    const next = random(20)
    const one = <T>(of: readonly T[]): T => of[Math.floor(next() * of.length)]!
    const trace = Array.from({ length: 1500 }, () => ({
      key: one(['a', 'b', 'c']),
      maxBurst: one([-1n, 0n, 1n, 4n, 9n, 100n, 100_000n]),
      count: one([1n, 2n, 3n, 7n, 60n, 1000n, 1_000_000n, 30_000_000n, 1_000_000_000n]),
      period: one([1n, 1n, 3n, 60n, 3600n, 86_400n]),
      quantity: one([1n, 1n, 1n, 0n, 2n, 5n, 50n, -1n, -40n]),
    })).filter(
      ({ maxBurst, count, period }) =>
        (period * 1_000_000_000n) / count > 0n && (maxBurst * period) / count < 8_000_000n,
    )
    const answers = await played(trace)
    const limited = answers.filter(({ specified }) => specified.startsWith('*5\r\n:1')).length
    expect(limited).toBeGreaterThan(200)
    expect(answers.length - limited).toBeGreaterThan(200)
    for (const { step, redis: ours, memory, specified } of answers) {
      expect([step, ours]).toEqual([step, specified])
      expect([step, memory]).toEqual([step, specified])
    }
  })

  const calls = (...texts: string[]) =>
    texts.map(text => {
      const [maxBurst, count, period, quantity] = text.split(' ').map(BigInt) as [bigint, bigint, bigint, bigint]
      return { key: 'k', maxBurst, count, period, quantity }
    })

  test.each([
    ['a period of more than 366 days', ['1 1 31622401 1', '1 1 31622401 1', '1 1 31622401 1']],
    ['the longest period', ['1 1 9223372036854775807 1', '1 1 1 1']],
    ['more than a million a second', ['5 1000001 1 3', '5 1000000000 1 6', '0 30000000 1 1']],
    ['the largest burst', ['9223372036854775807 1 1 1', '9223372036854775807 1 1 9223372036854775807']],
    ['the largest refund', ['4 1 1 3', '4 1 1 -9223372036854775808', '4 1 1 0']],
    ['the smallest burst', ['-9223372036854775808 1 1 1', '-5 1 1 0']],
    ['a refund that a smaller limit refuses', ['9 1 60 9', '0 1 1 -2', '9 1 60 0']],
  ])('%s is answered as the specification says', async (_, texts) => {
    for (const { step, redis: ours, memory, specified } of await played(calls(...texts))) {
      expect([step, ours, memory]).toEqual([step, specified, specified])
    }
  })

  test('a key that comes back with another rate keeps its time', async () => {
    const answers = await played(calls('9 1 100 6', '9 1 200 0', '9 1 50 0'))
    expect(answers.map(({ redis: ours }) => ours.replaceAll('\r\n:', ' '))).toEqual([
      '*5 0 10 4 -1 600\r\n',
      '*5 0 10 7 -1 600\r\n',
      '*5 1 10 0 100 600\r\n',
    ])
  })

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
