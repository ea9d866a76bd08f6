import { createServer } from 'node:net'
import { until } from 'sluice-harness'
import { describe, expect, onTestFinished, test } from 'vitest'
import { printed, serve, sluice } from '../fixtures/process.ts'
import { RawClient } from '../fixtures/resp/raw-client.ts'
import { rulesFile } from '../fixtures/rules-file.ts'

/** A process of its own starts, on a busy machine. */
const SLOW_MS = 60_000
const RULES = 'limits: { per-user: { key: user, sliding-log: 3/1h } }'
const ANY = ['--http-port', '0', '--grpc-port', '0', '--resp-port', '0']

/** Somebody else's port. */
function taken(): Promise<number> {
  return new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      onTestFinished(() => void server.close())
      resolve((server.address() as { port: number }).port)
    })
  })
}

/** With so many words it cannot start: what it says, and its exit code. */
async function refused(words: readonly string[], env: Record<string, string> = {}) {
  const running = sluice(['serve', ...words], env)
  const code = await running.ended
  return { code, said: running.output().trimEnd() }
}

describe('a service', { timeout: SLOW_MS }, () => {
  test('serves by its rules, logs its ports, and answers the requests from before SIGTERM', async () => {
    const service = await serve([rulesFile(RULES)])
    const client = await RawClient.connected(service.ports.http)
    client.send('POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 13\r\n\r\n{"user"')
    await until('it answers', async () => (await fetch(`http://127.0.0.1:${service.ports.http}/readyz`)).ok)
    service.signal('SIGTERM')
    await printed(service, /closing: answering open requests/)
    client.send(':"42"}')
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 200 .*"policy":"per-user".*"remaining":2/s)
    expect(await service.ended).toBe(0)
    expect(service.output().trimEnd()).toMatch(/ info closed$/)
  })

  test('goes on serving after SIGTERM until it is sent again, and logs JSON with time, level and message', async () => {
    const file = rulesFile(RULES)
    const service = await serve([file, '--lame-duck', '10m', '--log', 'json'])
    const { http } = service.ports
    service.signal('SIGTERM')
    await printed(service, /the service ends in 600000 ms/)
    expect((await fetch(`http://127.0.0.1:${http}/readyz`)).status).toBe(503)
    const checked = await fetch(`http://127.0.0.1:${http}/v1/check`, { method: 'POST', body: '{"user":"42"}' })
    expect([checked.status, checked.headers.get('connection')]).toEqual([200, 'close'])
    service.signal('SIGTERM')
    expect(await service.ended).toBe(0)
    const lines = service.output().trimEnd().split('\n')
    const [started, ...others] = lines.map(line => JSON.parse(line) as Record<string, unknown>)
    expect(started).toMatchObject({ level: 'info', store: 'memory', limits: { [file]: 1 } })
    for (const line of [started!, ...others])
      expect(Object.keys(line)).toEqual(expect.arrayContaining(['time', 'level', 'message']))
  })

  test('takes its settings from the environment, and a flag before that', async () => {
    const env = { SLUICE_RULES: rulesFile(RULES), SLUICE_CHECK_TOKEN: 'from-the-environment', SLUICE_ADMIN_TOKEN: 'x' }
    const service = await serve(['--check-token', 'from-a-flag'], env)
    const status = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` }
      const body = '{"user":"42"}'
      return (await fetch(`http://127.0.0.1:${service.ports.http}/v1/check`, { method: 'POST', headers, body })).status
    }
    expect([await status('from-the-environment'), await status('from-a-flag')]).toEqual([401, 200])
    service.signal('SIGINT')
    expect(await service.ended).toBe(0)
    for (const secret of ['from-a-flag', 'from-the-environment']) expect(service.output()).not.toContain(secret)
  })
})

describe('a service that cannot start says why in a line or two, without a stack', { timeout: SLOW_MS }, () => {
  test.each(['http', 'grpc', 'resp'])('a port for %s that is in use', async door => {
    const port = await taken()
    const words = ANY.map((word, i) => (ANY[i - 1] === `--${door}-port` ? String(port) : word))
    const { code, said } = await refused([rulesFile(RULES), ...words])
    expect([code, said]).toEqual([
      1,
      `port ${port} is in use: end the program that has it, or choose another with --${door}-port`,
    ])
  })

  const SECRET = 'swordfish'
  test.each<[what: string, words: string[], code: number, said: string | RegExp]>([
    ['an invalid host', ['--host', 'a..b'], 1, /^--host: expected an address of this machine, got 'a\.\.b' \(E\w+\)$/],
    [
      'an address of another machine',
      ['--host', '192.0.2.250'],
      1,
      "--host: expected an address of this machine, got '192.0.2.250' (EADDRNOTAVAIL)",
    ],
    [
      'a certificate that is not there',
      ['--tls-cert', 'none.pem', '--tls-key', 'none.pem'],
      1,
      'none.pem: expected a file that can be read, got ENOENT',
    ],
    [
      'an invalid certificate',
      ['--tls-cert', 'package.json', '--tls-key', 'package.json'],
      1,
      /^--tls-cert and --tls-key: they cannot be used \(.*\)$/,
    ],
    [
      'rules that are not there',
      ['none.yaml'],
      1,
      'none.yaml: expected a file that can be read, got ENOENT [SLUICE_BAD_RULES]',
    ],
    ['a store that is none', ['--store', `redis://:${SECRET}@host:99999`], 2, /^expected a store memory, redis:\/\//],
  ])('%s', async (_, words, code, said) => {
    const ran = await refused([...words, ...ANY])
    expect(ran.code).toBe(code)
    if (typeof said === 'string') expect(ran.said).toBe(said)
    else expect(ran.said).toMatch(said)
    expect(ran.said).not.toContain(SECRET)
    expect(ran.said).not.toContain('    at ')
  })

  test('all wrong settings at once, without their secrets', async () => {
    const { code, said } = await refused(['--http-port', '99999', '--workers', 'many'], {
      SLUICE_SECRET: SECRET,
      SLUICE_ADMIN_TOKEN: `two ${SECRET}`,
    })
    expect(code).toBe(2)
    expect(said).toContain("--http-port: expected a port from 0 (a free one) to 65535, got '99999'")
    expect(said).toContain("--workers: expected a number of processes from 0 to 256, got 'many'")
    expect(said).toContain('SLUICE_SECRET: expected a secret of at least 16 characters')
    expect(said).toContain('SLUICE_ADMIN_TOKEN: expected a secret of')
    expect(said).not.toContain(SECRET)
  })
})
