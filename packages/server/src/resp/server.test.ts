import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fakeClock } from 'sluice/testing'
import { until } from 'sluice-harness'
import { afterEach, describe, expect, test } from 'vitest'
import { RawClient } from '../fixtures/resp/raw-client.ts'
import { SlowThrottle } from '../fixtures/resp/slow-throttle.ts'
import { MOST_WRONG_PASSWORDS } from './commands/hello-commands.ts'
import { GUESSES } from './password.ts'
import { type RespOptions, type RespServer, startResp } from './server.ts'
import { memoryThrottle } from './throttle/memory-throttle.ts'

const open: (() => unknown)[] = []

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

async function started(options: Partial<RespOptions> = {}): Promise<RespServer> {
  const server = await startResp({ throttle: memoryThrottle({ clock: fakeClock(1e12) }), port: 0, ...options })
  open.push(() => server.close(0))
  return server
}

async function connected(where: Parameters<typeof RawClient.connected>[0]): Promise<RawClient> {
  const client = await RawClient.connected(where)
  open.push(() => client.close())
  return client
}

function socketPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'resp-'))
  open.push(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'resp.sock')
}

describe('the server listens', () => {
  test('on a port and on a unix socket, with one state', async () => {
    const path = socketPath()
    const server = await started({ path })
    const [tcp, unix] = [await connected(server.port!), await connected({ path })]
    expect(await tcp.send('CL.THROTTLE k 0 1 9\r\n').until(':9\r\n')).toMatch(/^\*5\r\n:0/)
    expect(await unix.send('CL.THROTTLE k 0 1 9\r\n').until(':9\r\n:9\r\n')).toMatch(/^\*5\r\n:1/)
    await server.close()
    expect(existsSync(path)).toBe(false)
  })

  test('on a unix socket alone', async () => {
    const path = socketPath()
    const server = await startResp({ throttle: memoryThrottle(), path })
    open.push(() => server.close(0))
    expect(server.port).toBeUndefined()
    expect(await (await connected({ path })).send('PING\r\n').until('\r\n')).toBe('+PONG\r\n')
  })

  test('only its user may connect to a unix socket, whatever the umask', async () => {
    const path = socketPath()
    const umask = process.umask(0)
    open.push(() => process.umask(umask))
    await started({ path })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(process.umask()).toBe(0)
  })

  test('a socket that a killed process left is replaced', async () => {
    const path = socketPath()
    await killedWhileListening(path)
    expect(existsSync(path)).toBe(true)
    await started({ path })
    expect(await (await connected({ path })).send('PING\r\n').until('\r\n')).toBe('+PONG\r\n')
  })

  test('a socket that another server uses is left alone', async () => {
    const path = socketPath()
    const other = await listening(path)
    open.push(() => other.close())
    await expect(started({ path })).rejects.toThrow('EADDRINUSE')
    expect(await (await connected({ path })).until('mine')).toBe('mine')
  })

  test('a port in use is an error, and nothing is left listening', async () => {
    const { port } = await started()
    const path = socketPath()
    await expect(started({ port: port!, path })).rejects.toThrow('EADDRINUSE')
    expect(existsSync(path)).toBe(false)
  })

  function killedWhileListening(path: string): Promise<void> {
    return new Promise(resolve => {
      const child = spawn(process.execPath, [
        '-e',
        'require("net").createServer().listen(process.argv[1], () => console.log(1))',
        path,
      ])
      child.stdout.once('data', () => child.kill('SIGKILL'))
      child.once('exit', () => resolve())
    })
  }

  function listening(path: string): Promise<Server> {
    return new Promise(resolve => {
      const server = createServer(socket => socket.on('error', () => {}).write('mine'))
      server.listen(path, () => resolve(server))
    })
  }
})

test.each<[Partial<RespOptions>, string]>([
  [{ maxConnections: -1 }, 'expected maxConnections as a whole number, 1 or more, got -1'],
  [{ maxConnections: 0 }, 'expected maxConnections as a whole number, 1 or more, got 0'],
  [{ idleMs: 1.5 }, 'expected idleMs as a whole number, 0 or more, got 1.5'],
  [{ stuckMs: Number.NaN }, 'expected stuckMs as a whole number, 1 or more, got NaN'],
  [{ password: '' }, "expected a password, or none, got ''"],
])('%j is refused', async (options, message) => {
  await expect(started(options)).rejects.toThrow(message)
})

test('a server must listen somewhere', async () => {
  await expect(startResp({ throttle: memoryThrottle() })).rejects.toThrow('expected a port or a path to listen on')
})

describe('wrong passwords', () => {
  const WRONG = '-WRONGPASS invalid username-password pair or user is disabled.\r\n'
  const guarded = async () => {
    const clock = fakeClock(1e12)
    return { clock, server: await started({ password: 'secret', clock }) }
  }

  test('close the connection after a few', async () => {
    const { server } = await guarded()
    const client = await connected(server.port!)
    client.send('AUTH a\r\n'.repeat(MOST_WRONG_PASSWORDS + 1)).send('AUTH secret\r\nPING\r\n')
    expect(await client.untilClosed()).toBe(WRONG.repeat(MOST_WRONG_PASSWORDS))
  })

  test('in HELLO count, too', async () => {
    const { server } = await guarded()
    const client = await connected(server.port!)
    client.send('HELLO 3 AUTH default a\r\n'.repeat(9))
    expect(await client.untilClosed()).toBe(WRONG.repeat(MOST_WRONG_PASSWORDS))
  })

  test('block an address for a while after too many, on however many connections', async () => {
    const { server, clock } = await guarded()
    const attempt = async (password: string, from = '127.0.0.1') => {
      const client = await connected({ host: '127.0.0.1', port: server.port!, localAddress: from })
      const answer = await client.send(`AUTH ${password}\r\n`).until('\r\n')
      client.close()
      return answer
    }
    for (let i = 0; i < GUESSES.burst; i++) expect(await attempt(`guess-${i}`)).toBe(WRONG)
    // Not even the right one: what comes back must not tell it from the others.
    for (const password of ['another', 'secret']) expect(await attempt(password)).toMatch(/^-ERR too many wrong/)
    expect(await attempt('secret', '127.0.0.2')).toBe('+OK\r\n')
    clock.advance(1000)
    expect(await attempt('another')).toBe(WRONG)
    expect(await attempt('secret')).toMatch(/^-ERR too many wrong/)
    clock.advance(1000)
    for (let i = 0; i < 2 * GUESSES.burst; i++) expect(await attempt('secret')).toBe('+OK\r\n')
  })
})

describe('limits', () => {
  test('a connection that does not send the password is closed, even if it sends other commands', async () => {
    const server = await started({ stuckMs: 40, password: 'secret' })
    const [stranger, friend] = [await connected(server.port!), await connected(server.port!)]
    expect(await friend.send('AUTH secret\r\n').until('\r\n')).toBe('+OK\r\n')
    await until('it is closed', async () => stranger.send('PING\r\n').isClosed)
    expect(friend.isClosed).toBe(false)
  })

  test('a connection beyond the limit gets an error; when another closes there is room again', async () => {
    const server = await started({ maxConnections: 2 })
    const [first] = [await connected(server.port!), await connected(server.port!)]
    const third = await connected(server.port!)
    expect(await third.untilClosed()).toBe('-ERR max number of clients reached\r\n')
    first!.close()
    await until('it is gone', async () => server.stats().connections === 1)
    const fourth = await connected(server.port!)
    expect(await fourth.send('PING\r\n').until('\r\n')).toBe('+PONG\r\n')
    expect(server.stats()).toMatchObject({ accepted: 3, turnedAway: 1, connections: 2 })
  })

  test('an idle connection is closed, a busy one is not', async () => {
    const server = await started({ idleMs: 40 })
    const [idle, busy] = [await connected(server.port!), await connected(server.port!)]
    await until('it is closed', async () => {
      await busy.send('PING\r\n').until('\r\n')
      return idle.isClosed
    })
    expect(busy.isClosed).toBe(false)
    expect(server.stats()).toMatchObject({ timedOut: 1, connections: 1 })
  })

  test('a connection that never completes a command is closed, even if bytes trickle in', async () => {
    const server = await started({ stuckMs: 40 })
    const [stuck, quiet] = [await connected(server.port!), await connected(server.port!)]
    stuck.send('*2\r\n$4\r\nECHO\r\n$60000\r\n')
    await until('it is closed', async () => stuck.send('x').isClosed)
    expect(quiet.isClosed).toBe(false)
    expect(server.stats()).toMatchObject({ timedOut: 1, connections: 1 })
  })

  test('a connection that waits for a slow answer is not stuck', async () => {
    const throttle = new SlowThrottle()
    const server = await started({ throttle, stuckMs: 20 })
    const [waiting, stuck] = [await connected(server.port!), await connected(server.port!)]
    waiting.send('CL.THROTTLE a 0 1 1\r\n')
    stuck.send('CL.THROTTLE')
    await stuck.untilClosed()
    throttle.answer('a')
    expect(await waiting.until(':-1\r\n:0\r\n')).toMatch(/^\*5\r\n:0/)
  })

  test('a client that does not close its side after the last answer is cut off', async () => {
    const server = await started({ stuckMs: 40 })
    const client = await connected({ host: '127.0.0.1', port: server.port!, allowHalfOpen: true })
    client.send('QUIT\r\n')
    await until('it is gone', async () => server.stats().connections === 0)
    expect(server.stats().timedOut).toBe(1)
  })
})

describe('closing', () => {
  test('accepts no connection, answers the commands that were read, and closes', async () => {
    const throttle = new SlowThrottle()
    const server = await started({ throttle })
    const [asking, idle, half] = [
      await connected(server.port!),
      await connected(server.port!),
      await connected(server.port!),
    ]
    half.send('*1\r\n$4\r\nPI')
    asking.send('CL.THROTTLE a 0 1 1\r\nPING\r\n')
    await until('it is asked for', async () => throttle.asked.length === 1)
    const closed = server.close()
    await expect(connected(server.port!)).rejects.toThrow('ECONNREFUSED')
    expect([await idle.untilClosed(), await half.untilClosed()]).toEqual(['', ''])
    throttle.answer('a')
    expect(await asking.untilClosed()).toBe('*5\r\n:0\r\n:1\r\n:0\r\n:-1\r\n:0\r\n+PONG\r\n')
    await closed
  })

  test('waits no longer than the grace', async () => {
    const throttle = new SlowThrottle()
    const server = await started({ throttle })
    const client = await connected(server.port!)
    client.send('CL.THROTTLE a 0 1 1\r\n')
    await until('it is asked for', async () => throttle.asked.length === 1)
    await server.close(10)
    expect(await client.untilClosed()).toBe('')
    expect(server.stats().connections).toBe(0)
  })
})
