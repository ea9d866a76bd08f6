import { type AddressInfo, createServer, type Socket } from 'node:net'
import fc from 'fast-check'
import { until } from 'sluice-harness'
import { afterEach, describe, expect, test } from 'vitest'
import { deskOver, frame } from '../fixtures/resp/context.ts'
import { RawClient } from '../fixtures/resp/raw-client.ts'
import { SlowThrottle } from '../fixtures/resp/slow-throttle.ts'
import { RespConnection } from './connection.ts'
import { type RespOptions, type RespServer, startResp } from './server.ts'
import { Session } from './session.ts'
import { memoryThrottle } from './throttle/memory-throttle.ts'
import type { Throttle } from './throttle/throttle.ts'

const open: (() => unknown)[] = []

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

async function started(throttle: Throttle = memoryThrottle(), options: Partial<RespOptions> = {}): Promise<RespServer> {
  const server = await startResp({ throttle, port: 0, ...options })
  open.push(() => server.close(0))
  return server
}

async function connected(server: RespServer): Promise<RawClient> {
  const client = await RawClient.connected(server.port!)
  open.push(() => client.close())
  return client
}

/** A connection whose socket can be looked at from the server's side. */
async function pair() {
  const { context } = deskOver(memoryThrottle())
  const entered: { connection: RespConnection; socket: Socket }[] = []
  const server = createServer({ allowHalfOpen: true }, socket => {
    entered.push({ connection: new RespConnection(socket, context, new Session(1, false)), socket })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const client = await RawClient.connected({ host: '127.0.0.1', port, allowHalfOpen: true })
  open.push(
    () => server.close(),
    () => client.close(),
    () => entered[0]?.socket.destroy(),
  )
  await until('it is accepted', async () => entered.length === 1)
  return { ...entered[0]!, client, context }
}

/** What SlowThrottle answers to a limit of 1 + maxBurst. */
const allowed = (limit: number) => `*5\r\n:0\r\n:${limit}\r\n:0\r\n:-1\r\n:0\r\n`

const numbers = (count: number) => Array.from({ length: count }, (_, i) => String(i))

describe('order', () => {
  test('the commands of one chunk are answered in order and in one write', async () => {
    const client = await connected(await started())
    client.send(Buffer.concat(numbers(200).map(i => frame('ECHO', i))))
    const replies = numbers(200).map(i => `$${i.length}\r\n${i}\r\n`)
    expect(await client.until(replies.at(-1)!)).toBe(replies.join(''))
    expect(client.chunks).toBe(1)
  })

  test('a frame may arrive byte by byte', async () => {
    const client = await connected(await started())
    client.socket.setNoDelay(true)
    for (const byte of frame('ECHO', 'slowly')) client.send(Buffer.from([byte]))
    expect(await client.until('slowly\r\n')).toBe('$6\r\nslowly\r\n')
  })

  test('late answers are sent in the order of their commands', async () => {
    const throttle = new SlowThrottle()
    const client = await connected(await started(throttle))
    client.send('CL.THROTTLE a 0 1 1\r\nCL.THROTTLE b 1 1 1\r\nPING\r\nCL.THROTTLE c 2 1 1\r\nFOO\r\nQUIT\r\n')
    await until('all are asked for', async () => throttle.asked.length === 3)
    for (const key of ['c', 'b', 'a']) throttle.answer(key)
    const text = await client.untilClosed()
    expect(text).toBe(
      `${allowed(1)}${allowed(2)}+PONG\r\n${allowed(3)}-ERR unknown command 'FOO', with args beginning with: \r\n+OK\r\n`,
    )
  })

  test('DEL and a refund wait for earlier commands, and later commands wait for them', async () => {
    const throttle = new SlowThrottle()
    const server = await started(throttle)
    const client = await connected(server)
    client.send(
      'CL.THROTTLE a 0 1 1\r\nDEL "a b"\r\nCL.THROTTLE a 1 1 1\r\nCL.THROTTLE c 2 1 1 -1\r\nCL.THROTTLE d 3 1 1\r\n',
    )
    const asked: string[] = []
    for (const name of ['a', 'DEL a b', 'a', 'c', 'd']) {
      asked.push(name)
      await until(`${asked} are asked for`, async () => throttle.asked.length >= asked.length)
      expect(throttle.asked).toEqual(asked)
      throttle.answer(name)
    }
    expect(await client.until(allowed(4))).toBe(`${allowed(1)}:1\r\n${allowed(2)}${allowed(3)}${allowed(4)}`)
  })

  test('QUIT closes the connection, even if the server had stopped reading from it', async () => {
    const throttle = new SlowThrottle()
    const server = await started(throttle)
    const client = await connected(server)
    client.send('CL.THROTTLE a 0 1 1\r\nDEL a\r\nQUIT\r\n')
    for (const name of ['a', 'DEL a']) {
      await until('it is asked for', async () => throttle.asked.includes(name))
      throttle.answer(name)
    }
    expect(await client.untilClosed()).toBe(`${allowed(1)}:1\r\n+OK\r\n`)
    await until('it is gone', async () => server.stats().connections === 0)
  })

  test('one connection does not wait for another', async () => {
    const throttle = new SlowThrottle()
    const server = await started(throttle)
    const [waiting, other] = [await connected(server), await connected(server)]
    waiting.send('CL.THROTTLE a 0 1 1\r\n')
    await until('it is asked for', async () => throttle.asked.length === 1)
    expect(await other.send('PING\r\n').until('\r\n')).toBe('+PONG\r\n')
  })

  test('a client that has ended its side still gets its answers', async () => {
    const throttle = new SlowThrottle()
    const client = await connected(await started(throttle))
    client.socket.end('CL.THROTTLE a 0 1 1\r\nDEL a\r\nPING\r\n')
    for (const name of ['a', 'DEL a']) {
      await until('it is asked for', async () => throttle.asked.includes(name))
      throttle.answer(name)
    }
    expect(await client.untilClosed()).toBe(`${allowed(1)}:1\r\n+PONG\r\n`)
  })
})

describe('malformed frames', () => {
  test('a malformed frame gets one error and closes its connection, and no other client notices', async () => {
    const server = await started()
    const [good, bad] = [await connected(server), await connected(server)]
    bad.send('*1\r\n$4\r\nPING\r\n*2147483647\r\n*1\r\n$4\r\nPING\r\n')
    expect(await bad.untilClosed()).toBe('+PONG\r\n-ERR Protocol error: invalid multibulk length\r\n')
    expect(await good.send('PING\r\n').until('\r\n')).toBe('+PONG\r\n')
    expect(server.stats()).toMatchObject({ protocolErrors: 1, commands: 2, connections: 1 })
  })

  test('random bytes do not disturb other clients', async () => {
    const server = await started()
    const good = await connected(server)
    const byte = fc.oneof(fc.constantFrom(...Buffer.from('*$1\r\nCL.THROTTLE "')), fc.nat(255))
    await fc.assert(
      fc.asyncProperty(fc.array(byte, { minLength: 1, maxLength: 60 }), async bytes => {
        const client = await RawClient.connected(server.port!)
        client.socket.end(Buffer.from(bytes))
        const text = await client.untilClosed()
        expect(text).toMatch(/^([-+*:$%_].*\r\n)*$/)
      }),
      { numRuns: 200 },
    )
    expect(await good.send('PING\r\n').until('\r\n')).toBe('+PONG\r\n')
  })

  test('the error comes after the answers to earlier commands', async () => {
    const throttle = new SlowThrottle()
    const client = await connected(await started(throttle))
    client.send('CL.THROTTLE a 0 1 1\r\n*x\r\n')
    await until('it is asked for', async () => throttle.asked.length === 1)
    throttle.answer('a')
    expect(await client.untilClosed()).toBe(`${allowed(1)}-ERR Protocol error: invalid multibulk length\r\n`)
  })

  test('all bytes after the malformed frame are dropped', async () => {
    const { connection, client, socket } = await pair()
    const megabyte = Buffer.alloc(1024 * 1024, 'x')
    for (let i = 0; i < 20; i++) client.send(megabyte)
    await until('all is read', async () => socket.bytesRead === 20 * megabyte.length)
    expect(connection.keptBytes).toBe(0)
    expect(await client.until('\r\n')).toBe('-ERR Protocol error: too big inline request\r\n')
  })
})

describe('a client that does not read', () => {
  /** Comes back when the server has carried out nothing for a while. */
  async function standstill(server: RespServer): Promise<number> {
    let seen = -1
    let times = 0
    return until('the server stands still', async () => {
      const { commands } = server.stats()
      times = commands === seen ? times + 1 : 0
      seen = commands
      return times > 5 && commands
    })
  }

  test.each([
    ['large commands', 600, frame('ECHO', 'x'.repeat(30_000)), `$30000\r\n${'x'.repeat(30_000)}\r\n`],
    ['short commands with long replies', 12_000, Buffer.from('COMMAND DOCS\r\n'), undefined],
  ])('is not read from, and loses nothing: %s', async (_, count, command, reply) => {
    const server = await started()
    const client = await connected(server)
    client.socket.pause()
    client.send(Buffer.concat(Array.from({ length: count }, () => command)))
    client.send('ECHO the end\r\n')
    const done = await standstill(server)
    expect(done).toBeGreaterThan(0)
    expect(done).toBeLessThan(count)
    client.socket.resume()
    const text = await client.until("wrong number of arguments for 'echo' command\r\n")
    expect(server.stats().commands).toBe(count + 1)
    if (reply !== undefined) expect(text.startsWith(reply.repeat(count))).toBe(true)
  })

  test('keeps little more than a slab of replies waiting', async () => {
    const { client, socket, context } = await pair()
    client.socket.pause()
    client.send('COMMAND DOCS\r\n'.repeat(30_000))
    await until('it is blocked', async () => socket.writableNeedDrain)
    expect(context.stats.commands).toBeLessThan(30_000)
    expect(socket.writableLength).toBeLessThan(256 * 1024)
  })

  test('is not read from either while it waits for a thousand answers', async () => {
    const throttle = new SlowThrottle()
    const server = await started(throttle)
    const client = await connected(server)
    client.send(Buffer.concat(numbers(5000).map(i => frame('CL.THROTTLE', i, '0', '1', '1'))))
    expect(await standstill(server)).toBe(1024)
    for (const i of numbers(1024)) throttle.answer(i)
    expect(await standstill(server)).toBe(2048)
  })
})
