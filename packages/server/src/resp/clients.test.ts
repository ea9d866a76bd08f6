import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { fakeClock } from 'sluice/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RespServer, startResp } from './server.ts'
import { memoryThrottle } from './throttle/memory-throttle.ts'

let plain: RespServer
let guarded: RespServer

beforeAll(async () => {
  const throttle = memoryThrottle({ clock: fakeClock(1e12) })
  plain = await startResp({ throttle, port: 0 })
  guarded = await startResp({ throttle, port: 0, password: 'secret' })
})

afterAll(async () => {
  await Promise.all([plain.close(), guarded.close()])
})

/** What a test needs of a client library. */
interface Client {
  call(...args: string[]): Promise<unknown>
  /** Several at once, as one pipeline. */
  pipeline(commands: string[][]): Promise<unknown[]>
  close(): unknown
}

async function ioredis(port: number, password?: string, protocol: 2 | 3 = 2): Promise<Client> {
  const client = new Redis({
    host: '127.0.0.1',
    port,
    protocol,
    lazyConnect: true,
    connectionName: 'me',
    ...(password && { password }),
  })
  client.on('error', () => {}) // told by connect(), too
  await client.connect()
  return {
    call: (name, ...args) => client.call(name!, ...args),
    pipeline: async commands =>
      (await client.pipeline(commands.map(([name, ...args]) => ['call', name!, ...args])).exec())!.map(
        ([, value]) => value,
      ),
    close: () => client.quit(),
  }
}

async function nodeRedis(port: number, password?: string, RESP: 2 | 3 = 3): Promise<Client> {
  const client = createClient({
    socket: { host: '127.0.0.1', port, reconnectStrategy: false },
    RESP,
    name: 'me',
    ...(password && { password }),
  })
  client.on('error', () => {})
  await client.connect()
  return {
    call: (...args) => client.sendCommand(args),
    pipeline: commands => Promise.all(commands.map(args => client.sendCommand(args))),
    close: () => client.close(),
  }
}

describe.each([
  ['ioredis', ioredis],
  ['ioredis, RESP3', (port: number, password?: string) => ioredis(port, password, 3)],
  ['node-redis, RESP2', (port: number, password?: string) => nodeRedis(port, password, 2)],
  ['node-redis, RESP3', nodeRedis],
])('%s', (name, connect) => {
  test('throttles, peeks, refunds and deletes', async () => {
    const client = await connect(plain.port!)
    const throttle = (...args: string[]) => client.call('CL.THROTTLE', `${name} key`, '1', '1', '60', ...args)
    expect(await throttle()).toEqual([0, 2, 1, -1, 60])
    expect(await throttle('2')).toEqual([1, 2, 1, 60, 60])
    expect(await throttle('-1')).toEqual([0, 2, 2, -1, 0])
    expect(await throttle('2')).toEqual([0, 2, 0, -1, 120])
    expect(await client.call('DEL', `${name} key`)).toBe(1)
    expect(await throttle('0')).toEqual([0, 2, 2, -1, 0])
    await client.close()
  })

  test('gets a hundred pipelined answers in order', async () => {
    const client = await connect(plain.port!)
    const commands = Array.from({ length: 100 }, () => ['CL.THROTTLE', `${name} pipeline`, '99', '1', '60'])
    const remaining = (await client.pipeline(commands)).map(reply => (reply as number[])[2])
    expect(remaining).toEqual(Array.from({ length: 100 }, (_, i) => 99 - i))
    await client.close()
  })

  test('is served only with the right password', async () => {
    const client = await connect(guarded.port!, 'secret')
    expect(await client.call('PING')).toBe('PONG')
    expect(await client.call('CLIENT', 'GETNAME')).toBe('me')
    await client.close()
    await expect(connect(guarded.port!, 'wrong').then(other => other.call('PING'))).rejects.toThrow()
  })

  test('errors arrive as errors, and the connection goes on', async () => {
    const client = await connect(plain.port!)
    await expect(client.call('CL.THROTTLE', 'k', '1', '0', '1')).rejects.toThrow(
      'Cell error: Zero rates are not supported',
    )
    await expect(client.call('GET', 'k')).rejects.toThrow("ERR unknown command 'GET'")
    expect(await client.call('PING')).toBe('PONG')
    await client.close()
  })
})

describe('redis-cli', () => {
  async function cli(port: number, ...args: string[]): Promise<string> {
    const { stdout, stderr } = await promisify(execFile)('redis-cli', ['-p', String(port), ...args])
    return stdout + stderr
  }

  /** As a person types it. */
  function typed(port: number, lines: string): Promise<string> {
    return new Promise(resolve => {
      const child = execFile('redis-cli', ['-p', String(port)], (_, stdout) => resolve(stdout))
      child.stdin!.end(lines)
    })
  }

  test.each([[], ['-3']])('throttles, %j', async (...flags) => {
    const key = `cli ${flags}`
    expect(await cli(plain.port!, ...flags, 'CL.THROTTLE', key, '15', '30', '60')).toBe('0\n16\n15\n-1\n2\n')
    expect(await cli(plain.port!, ...flags, 'DEL', key)).toBe('1\n')
    expect(await cli(plain.port!, ...flags, 'CL.THROTTLE', key, 'x', '30', '60')).toContain(
      "Cell error: Couldn't parse as integer: x",
    )
  })

  test('sends its password', async () => {
    expect(await cli(guarded.port!, '--no-auth-warning', '-a', 'secret', 'PING')).toBe('PONG\n')
    expect(await cli(guarded.port!, 'PING')).toContain('NOAUTH')
  })

  test('reads commands from a file and mass inserts', async () => {
    expect(await typed(plain.port!, 'PING\nECHO "a b"\nQUIT\n')).toBe('PONG\na b\n')
    const piped = new Promise<string>(resolve => {
      const child = execFile('redis-cli', ['-p', String(plain.port!), '--pipe'], (_, stdout) => resolve(stdout))
      child.stdin!.end('*1\r\n$4\r\nPING\r\n'.repeat(1000))
    })
    expect(await piped).toContain('errors: 0, replies: 1000')
  })
})
