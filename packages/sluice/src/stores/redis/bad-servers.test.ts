import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from 'redis'
import { type RedisServer, startProxy, startRedis, type TcpProxy } from 'sluice-harness'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { CLIENTS, ioredis } from '../../fixtures/redis/clients.ts'
import { bareStore, Counter, loadScripts } from '../../fixtures/redis/counter.ts'
import { createLimiter, type ErrorCode, fixedWindow, type LimiterEvent, type OnOutage } from '../../index.ts'
import type { RedisClient } from './client/client.ts'
import { redisStore } from './redis-store.ts'

const FIVE = fixedWindow({ limit: 5, window: '1h' })
let server: RedisServer
let replica: RedisServer
let full: RedisServer
let proxy: TcpProxy
/** What a test has opened. */
const closing: (() => unknown)[] = []

beforeAll(async () => {
  server = await startRedis()
  replica = await startRedis({ args: ['--replicaof', server.host, String(server.port)] })
  full = await startRedis()
  await full.command('CONFIG', 'SET', 'maxmemory', '1')
  proxy = await startProxy(server)
  proxy.rewrite = chunk =>
    Buffer.from(chunk.toString('latin1').replace(/redis_version:\d\.\d/, 'redis_version:3.2'), 'latin1')
  for (const [user, rules] of Object.entries(USERS))
    await server.command('ACL', 'SETUSER', user, 'on', '>pass', '~*', ...rules)
})

afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

afterAll(async () => {
  await proxy.stop()
  await Promise.all([server, replica, full].map(one => one.stop()))
})

/** What they may not do. */
const USERS = {
  scriptless: ['+@all', '-evalsha', '-eval'],
  textless: ['+@all', '-eval'],
  writeless: ['+@all', '-setex'],
}

async function opened(client: Awaited<ReturnType<typeof ioredis>>): Promise<RedisClient> {
  closing.push(() => client.disconnect())
  return client
}

const as = (username: keyof typeof USERS) => async () => opened(await ioredis(server, { username, password: 'pass' }))

const TROUBLES: [string, ErrorCode, RegExp, () => Promise<RedisClient>][] = [
  [
    'a server that is too old',
    'SLUICE_SERVER_TOO_OLD',
    /expected Redis 6\.2 or newer.*got Redis 3\.2.*upgrade/,
    async () => opened(await ioredis(proxy)),
  ],
  ['a user that may not run scripts', 'SLUICE_SCRIPT_REFUSED', /EVALSHA|evalsha/, as('scriptless')],
  ['a user that may not write', 'SLUICE_SCRIPT_REFUSED', /may not|can't run|permission/, as('writeless')],
  ['a replica', 'SLUICE_STORE_READONLY', /replica/, async () => opened(await ioredis(replica))],
  ['a server whose memory is full', 'SLUICE_STORE_FULL', /maxmemory/, async () => opened(await ioredis(full))],
  [
    'a client that is not connected',
    'SLUICE_STORE_UNREACHABLE',
    /connect/,
    async () => createClient({ socket: server }),
  ],
]

describe.each(TROUBLES)('%s', (_, code, says, open) => {
  test('is a fault with a name, which says what to do', async () => {
    const store = redisStore(await open(), { connectWait: '50ms', onEvent: () => undefined })
    closing.push(() => store.close())
    const { fault } = await new Counter(store, FIVE, 'limit').take('a')
    expect(fault).toMatchObject({ name: 'StoreUnavailable', code })
    expect(fault!.message).toMatch(says)
    expect(fault!.message).toContain(`node_modules/sluice/errors.md#${code.toLowerCase()}`)
  })

  test.each(['local', 'open', 'closed'] satisfies OnOutage[])('is decided by onOutage: %s', async onOutage => {
    const store = redisStore(await open(), { connectWait: '50ms', onEvent: () => undefined })
    closing.push(() => store.close())
    const events: LimiterEvent[] = []
    const limiter = createLimiter(FIVE, { store, onOutage, onEvent: event => events.push(event) })
    const decisions = []
    for (let n = 0; n < 6; n++) decisions.push(await limiter.consume('a'))
    // Half of five, rounded up, is three.
    const passing = { local: 3, open: 6, closed: 0 }[onOutage]
    expect(decisions.map(decision => decision.allowed)).toEqual(decisions.map((_, n) => n < passing))
    expect(new Set(decisions.map(decision => decision.degraded))).toEqual(new Set([onOutage]))
    expect(events).toMatchObject([{ type: 'degraded', limit: 'default', mode: onOutage, error: { code } }])
  })
})

describe('a key larger than the server takes', () => {
  beforeAll(() => server.command('CONFIG', 'SET', 'proto-max-bulk-len', '1mb'))
  afterAll(() => server.command('CONFIG', 'SET', 'proto-max-bulk-len', '512mb'))

  test.each(Object.entries(CLIENTS))('is a fault of that key, through %s', async (_, connect) => {
    const { client, close } = await connect(server)
    closing.push(close)
    const counter = new Counter(bareStore(client), FIVE, 'large')
    // The server says so and hangs up: which of the two a client hears first is up to chance.
    const { fault } = await counter.take('x'.repeat(1.1e6))
    expect(['SLUICE_KEY_TOO_LONG', 'SLUICE_STORE_UNREACHABLE']).toContain(fault?.code)
    // The server hangs up on whoever sends that, and the client comes back.
    for (let n = 0; n < 50 && (await counter.take('a')).fault !== undefined; n++) await sleep(20)
    expect((await counter.take('a')).fault).toBeUndefined()
  })
})

test('a user that may run known scripts but send none can go on where another has sent them', async () => {
  const mine = await ioredis(server)
  closing.push(() => mine.disconnect())
  await loadScripts(mine)
  const theirs = new Counter(bareStore(await as('textless')()), FIVE, 'known')
  expect(await theirs.take('a')).toMatchObject({ fault: undefined, used: 1 })
  await server.command('SCRIPT', 'FLUSH')
  expect((await theirs.take('a')).fault?.code).toBe('SLUICE_SCRIPT_REFUSED')
})
