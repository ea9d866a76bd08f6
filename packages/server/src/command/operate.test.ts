import { existsSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { startRedis, until } from 'sluice-harness'
import { describe, expect, onTestFinished, test } from 'vitest'
import { run } from '../fixtures/command/run.ts'
import { printed, serve, sluice } from '../fixtures/process.ts'
import { rulesFile } from '../fixtures/rules-file.ts'

/** A process of its own starts, on a busy machine. */
const SLOW = { timeout: 60_000 }
const RULES = 'limits: { per-user: { key: user, sliding-log: 3/1h }, per-ip: { key: ip, sliding-log: 9/1h } }'
const ANY = ['--http-port', '0', '--grpc-port', '0', '--resp-port', '0']

async function operated(words: readonly string[] = []) {
  const rules = rulesFile(RULES)
  const socket = join(dirname(rules), 'admin.sock')
  const service = await serve([rules, '--admin-socket', socket, ...words])
  const operate = (...command: string[]) => run(...command, '--admin-socket', socket)
  const check = async (user: string, cost = 1) => {
    const sent = { method: 'POST', body: JSON.stringify({ user, cost }), headers: { connection: 'close' } }
    return (await fetch(`http://127.0.0.1:${service.ports.http}/v1/check`, sent)).status
  }
  return { service, rules, socket, operate, check }
}

describe.each([
  ['one process', []],
  ['workers', ['--workers', '2']],
])('%s', (_, words) => {
  test('operators set modes, reset and block over the socket, and the port refuses such calls', SLOW, async () => {
    const { service, socket, operate, check } = await operated(words)
    expect(statSync(socket).mode & 0o777).toBe(0o600)
    expect(await operate('modes')).toEqual({ code: 0, out: 'per-user enforce\nper-ip enforce\n', err: '' })

    expect([await check('42', 3), await check('42')]).toEqual([200, 429])
    expect(await operate('reset', 'user=42')).toEqual({ code: 0, out: 'reset user=42\n', err: '' })
    expect([await check('42', 3), await check('42')]).toEqual([200, 429])
    expect((await operate('reset', '{"user":"42"}', '--limit', 'per-ip')).code).toBe(0)
    expect(await check('42')).toBe(429)

    expect((await operate('modes', 'per-user', 'off')).out).toBe('per-user is now off\n')
    expect(await check('42')).toBe(200)
    expect(JSON.parse((await operate('modes', '--json')).out)).toEqual([
      { limit: 'per-user', mode: 'off' },
      { limit: 'per-ip', mode: 'enforce' },
    ])
    await operate('modes', 'per-user', 'enforce')

    expect((await operate('block', 'user=43', '--limit', 'per-user', '--for', '15m')).out).toBe(
      'blocked user=43 for 15m\n',
    )
    expect([await check('43'), await check('44')]).toEqual([429, 200])

    const post = { method: 'POST', body: '{"limit":"per-user","mode":"off"}' }
    expect((await fetch(`http://127.0.0.1:${service.ports.http}/v1/modes`, post)).status).toBe(403)
    service.signal('SIGTERM')
    expect(await service.ended).toBe(0)
    expect(existsSync(socket)).toBe(false)
  })
})

test('a socket that a killed service left is replaced, one in use is an error', SLOW, async () => {
  const { service, rules, socket, operate } = await operated()
  const second = sluice(['serve', rules, '--admin-socket', socket, ...ANY])
  expect(await second.ended).toBe(1)
  expect(second.output()).toContain(`--admin-socket: ${socket} is in use: end the service that has it`)
  expect((await operate('modes')).code).toBe(0)
  service.signal('SIGKILL')
  await service.ended
  expect(existsSync(socket)).toBe(true)
  await serve([rules, '--admin-socket', socket])
  expect((await operate('modes')).code).toBe(0)
})

test('a token that the service made is printed once, and all workers accept it', SLOW, async () => {
  const { service } = await operated(['--workers', '2', '--admin-token', 'auto'])
  const [, token] = await printed(service, /For operators: http:\/\/127\.0\.0\.1:\d+\/#token=(\S+)\n/)
  const status = async (bearer: string) => {
    const headers = { authorization: `Bearer ${bearer}`, connection: 'close' }
    return (await fetch(`http://127.0.0.1:${service.ports.http}/v1/shadows`, { headers })).status
  }
  for (let i = 0; i < 4; i++) expect([await status(token!), await status('auto')]).toEqual([200, 401])
  expect(service.output().split(token!)).toHaveLength(2)
})

test('over Redis, a mode set by the socket is set in all workers', SLOW, async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const { operate, check } = await operated(['--workers', '2', '--store', `redis://127.0.0.1:${redis.port}`])
  await operate('modes', 'per-user', 'off')
  await until('all workers have heard of it', async () => {
    const statuses = await Promise.all(Array.from({ length: 20 }, () => check('42')))
    return statuses.every(status => status === 200)
  })
  expect((await operate('modes')).out).toBe('per-user off\nper-ip enforce\n')
})

describe('an operator gets a clear error', () => {
  test.each<[words: string[], code: number, err: string]>([
    [['modes'], 2, 'expected --admin-socket or SLUICE_ADMIN_SOCKET: the socket of a service that was started with it'],
    [['modes', 'per-user'], 2, 'expected sluice modes [<limit> enforce|shadow|off]'],
    [['reset'], 2, 'expected sluice reset <subject>, such as user=42'],
    [['reset', 'user'], 2, "expected a request as JSON or as name=value, got 'user'"],
    [['reset', '{"user"'], 2, 'expected a request as JSON, got: '],
    [['block', 'user=42'], 2, 'expected sluice block <subject> --for 15m [--limit name]'],
    [
      ['modes', '--admin-socket', '/nowhere/admin.sock'],
      1,
      '/nowhere/admin.sock: expected the socket of a running service, got ENOENT',
    ],
  ])('sluice %j', async (words, code, err) => {
    expect(await run(...words)).toMatchObject({ code, out: '', err: expect.stringContaining(err) })
  })

  test('for a limit that the service does not have', SLOW, async () => {
    const { operate } = await operated()
    for (const words of [
      ['modes', 'nope', 'off'],
      ['reset', 'user=42', '--limit', 'nope'],
      ['block', 'user=42', '--limit', 'nope', '--for', '15m'],
    ])
      expect(await operate(...words)).toMatchObject({ code: 1, out: '', err: expect.stringContaining('nope') })
    expect(await operate('block', 'user=42', '--limit', 'per-user', '--for', 'long')).toMatchObject({
      code: 1,
      out: '',
    })
  })

  test('and the service does not start if no socket can be made at the path', SLOW, async () => {
    const file = rulesFile(RULES)
    writeFileSync(`${file}.txt`, 'mine')
    for (const path of [`${file}.txt`, '/nowhere/admin.sock']) {
      const running = sluice(['serve', file, '--admin-socket', path, ...ANY])
      expect(await running.ended).toBe(1)
      expect(running.output()).toMatch(/^--admin-socket: .*\n$/)
    }
  })

  test('if the answer is not from a service', async () => {
    const path = join(dirname(rulesFile(RULES)), 'other.sock')
    const server = createServer(socket => socket.on('error', () => {}).end('mine'))
    await new Promise<void>(resolve => server.listen(path, resolve))
    onTestFinished(() => void server.close())
    expect(await run('modes', '--admin-socket', path)).toMatchObject({ code: 1, err: expect.stringContaining(path) })
  })
})
