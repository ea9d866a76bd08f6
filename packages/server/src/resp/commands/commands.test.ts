import { fakeClock } from 'sluice/testing'
import { expect, test } from 'vitest'
import { deskOver } from '../../fixtures/resp/context.ts'
import { memoryThrottle } from '../throttle/memory-throttle.ts'
import type { Throttle } from '../throttle/throttle.ts'
import { CommandError } from './command.ts'

const opened = (password?: string) => deskOver(memoryThrottle({ clock: fakeClock(1e12) }), password)

/** Sends each line as one command, words between blanks, and returns the last reply. */
async function last(...lines: readonly string[]): Promise<string> {
  const { ask } = opened()
  let reply = ''
  for (const line of lines) reply = await ask(...line.split(' '))
  return reply
}

const USAGE = '-Cell error: Usage: cl.throttle <key> <max_burst> <count per period> <period> [<quantity>]\r\n'
const NOT = "-Cell error: Couldn't parse as integer:"

test.each([
  ['CL.THROTTLE user123 15 30 60', '*5\r\n:0\r\n:16\r\n:15\r\n:-1\r\n:2\r\n'],
  ['cl.throttle user123 +15 030 60 1', '*5\r\n:0\r\n:16\r\n:15\r\n:-1\r\n:2\r\n'],
  ['Cl.Throttle  15 30 60', '*5\r\n:0\r\n:16\r\n:15\r\n:-1\r\n:2\r\n'],
  ['CL.THROTTLE', USAGE],
  ['CL\x0eTHROTTLE', "-ERR unknown command 'CL\x0eTHROTTLE', with args beginning with: \r\n"],
  ['CL.THROTTLE k', USAGE],
  ['CL.THROTTLE k 1 1', USAGE],
  ['CL.THROTTLE k 1 1 1 1 1', USAGE],
  ['CL.THROTTLE k x y z', `${NOT} x\r\n`],
  ['CL.THROTTLE k 1 1.5 z', `${NOT} 1.5\r\n`],
  ['CL.THROTTLE k 1 1 9223372036854775808', `${NOT} 9223372036854775808\r\n`],
  ['CL.THROTTLE k 1 1 1 1e3', `${NOT} 1e3\r\n`],
  ['CL.THROTTLE k  1 1', `${NOT} \r\n`],
  ['CL.THROTTLE k a\r\nb 1 1', `${NOT} a  b\r\n`],
  [`CL.THROTTLE k ${'9'.repeat(60_000)} 1 1`, `${NOT} ${'9'.repeat(128)}\r\n`],
  ['CL.THROTTLE k 1 0 1', '-Cell error: Zero rates are not supported\r\n'],
  ['CL.THROTTLE k 1 1 0', '-Cell error: Zero rates are not supported\r\n'],
  ['CL.THROTTLE k 1 1000000001 1', '-Cell error: Zero rates are not supported\r\n'],
  ['CL.THROTTLE k 1 -1 1', '-Cell error: Negative rates are not supported\r\n'],
  ['CL.THROTTLE k 1 1 -1', '-Cell error: Negative rates are not supported\r\n'],
  ['CL.THROTTLE k 1 -1 -1', '-Cell error: Negative rates are not supported\r\n'],
  [
    'CL.THROTTLE k 9223372036854775807 1 1',
    '*5\r\n:0\r\n:9223372036854775807\r\n:4611686017\r\n:-1\r\n:1\r\n', // 2^62 ns of seconds, less one
  ],
])('%j', async (line, reply) => {
  expect(await last(line)).toBe(reply)
})

test('a call that gets an error leaves the key as it was', async () => {
  const { ask } = opened()
  await ask('CL.THROTTLE', 'k', '1', '0', '1')
  await ask('CL.THROTTLE', 'k', '1', '1', '1', 'x')
  expect(await ask('CL.THROTTLE', 'k', '1', '1', '1')).toContain(':0\r\n:2\r\n:1\r\n')
})

test('keys are any bytes up to 64 KiB, and different keys never share a limit', async () => {
  const { ask } = opened()
  const keys = ['', 'a', 'A', 'a\0', '\0a', '__proto__', '\xff', '\xc3\xbf', 'x'.repeat(65_535), 'x'.repeat(65_536)]
  for (const key of keys) expect(await ask('CL.THROTTLE', key, '0', '1', '9')).toMatch(/^\*5\r\n:0/)
  for (const key of keys) expect(await ask('CL.THROTTLE', key, '0', '1', '9')).toMatch(/^\*5\r\n:1/)
  expect(await ask('DEL', ...keys.slice(0, -1), 'unknown', 'a')).toBe(`:${keys.length - 1}\r\n`)
})

test('DEL returns how many keys there were, and gives them a fresh start', async () => {
  const { ask } = opened()
  await ask('CL.THROTTLE', 'a', '0', '1', '9')
  await ask('CL.THROTTLE', 'only looked at', '0', '1', '9', '0')
  expect(await ask('DEL', 'b', 'only looked at')).toBe(':0\r\n')
  expect(await ask('DEL', 'a', 'b', 'a')).toBe(':1\r\n')
  expect(await ask('CL.THROTTLE', 'a', '0', '1', '9')).toMatch(/^\*5\r\n:0/)
})

const hello = (head: string, proto: number) =>
  `${head}\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n7.0.0\r\n$5\r\nproto\r\n:${proto}\r\n$2\r\nid\r\n:1\r\n` +
  '$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n'

test.each([
  [['HELLO'], hello('*14', 2)],
  [['HELLO 2'], hello('*14', 2)],
  [['HELLO 3'], hello('%7', 3)],
  [['HELLO 3', 'HELLO'], hello('%7', 3)],
  [['HELLO 3', 'RESET', 'HELLO'], hello('*14', 2)],
  [['HELLO 3', 'HELLO 4'], '-NOPROTO unsupported protocol version\r\n'],
  [['HELLO 3', 'CLIENT GETNAME'], '_\r\n'],
  [['HELLO 2 SETNAME me', 'CLIENT GETNAME'], '$2\r\nme\r\n'],
  [['CLIENT ID'], ':1\r\n'],
  [['CLIENT SETINFO LIB-NAME x'], '+OK\r\n'],
  [['CLIENT SETINFO lib-ver 1'], '+OK\r\n'],
  [['CLIENT SETINFO foo 1'], "-ERR Unrecognized option 'foo'\r\n"],
  [['CLIENT SETINFO lib-ver'], "-ERR wrong number of arguments for 'client|setinfo' command\r\n"],
  [['COMMAND COUNT'], ':16\r\n'],
  [
    ['COMMAND INFO cl.throttle nope'],
    '*2\r\n*10\r\n$11\r\ncl.throttle\r\n:-1\r\n*2\r\n+write\r\n+fast\r\n:1\r\n:1\r\n:1\r\n*0\r\n*0\r\n*0\r\n*0\r\n$-1\r\n',
  ],
  [['COMMAND LIST'], expect.stringMatching(/^\*16\r\n\$11\r\ncl.throttle\r\n/)],
  [['COMMAND'], expect.stringMatching(/^\*16\r\n\*10\r\n\$11\r\ncl.throttle\r\n/)],
  [['COMMAND DOCS echo'], expect.stringMatching(/^\*2\r\n\$4\r\necho\r\n\*6\r\n\$7\r\nsummary\r\n/)],
  [['HELLO 3', 'COMMAND DOCS echo'], expect.stringMatching(/^%1\r\n\$4\r\necho\r\n%3\r\n\$7\r\nsummary\r\n/)],
  [['INFO'], expect.stringMatching(/# Server\r\nredis_version:7\.0\.0\r\n[\s\S]*\r\nloading:0\r\n/)],
  [
    ['CL.THROTTLE k 0 1 9', 'CL.THROTTLE k 0 1 9', 'INFO stats'],
    expect.stringMatching(/throttle_allowed:1\r\nthrottle_limited:1\r\nthrottle_keys:1\r\n/),
  ],
  [['CL.THROTTLE k 0 1 9', 'TTL k'], ':9\r\n'],
  [['CL.THROTTLE k 0 1 9', 'PTTL k'], ':9000\r\n'],
  [['TTL k'], ':-2\r\n'],
  [['CL.THROTTLE k 0 1 9', 'EXISTS k other k'], ':2\r\n'],
  [['CL.THROTTLE k 0 1 9', 'EXPIRE k 60'], ':0\r\n'],
  [['CL.THROTTLE k 0 1 9', 'EXPIRE k 0'], ':1\r\n'],
  [['CL.THROTTLE k 0 1 9', 'EXPIRE k 0', 'TTL k'], ':-2\r\n'],
  [['EXPIRE k 0'], ':0\r\n'],
  [['EXPIRE k soon'], '-ERR value is not an integer or out of range\r\n'],
  [['INFO cpu'], expect.stringMatching(/# CPU\r\nused_cpu_sys:\d+\.\d{6}\r\nused_cpu_user:\d+\.\d{6}\r\n/)],
  [['INFO clients'], '$32\r\n# Clients\r\nconnected_clients:0\r\n\r\n'],
])('%j is answered with %j', async (lines, reply) => {
  expect(await last(...lines)).toEqual(reply)
})

test('with a password, nothing is decided before AUTH', async () => {
  const { ask, context } = opened('secret')
  expect(await ask('CL.THROTTLE', 'k', '0', '1', '9')).toBe('-NOAUTH Authentication required.\r\n')
  expect(await ask('AUTH', 'guess')).toBe('-WRONGPASS invalid username-password pair or user is disabled.\r\n')
  expect(await ask('HELLO', '3', 'AUTH', 'default', 'guess')).toMatch(/^-WRONGPASS/)
  expect(context.stats).toMatchObject({ failedAuth: 2, allowed: 0, limited: 0 })
  expect(await ask('HELLO', '3', 'AUTH', 'default', 'secret')).toMatch(/^%7/)
  expect(await ask('CL.THROTTLE', 'k', '0', '1', '9')).toMatch(/^\*5\r\n:0/)
})

/** A throttle that fails: what a client is told of it, now or later. */
const failing = (error: Error, isLater: boolean): Throttle => {
  const fail = () => {
    if (isLater) return Promise.reject(error)
    throw error
  }
  return { decide: fail, forget: fail, left: fail, stats: () => undefined }
}

test.each([false, true])('a failure is an error reply without secrets (later: %s)', async isLater => {
  const told = deskOver(failing(new CommandError('Cell error: no'), isLater))
  expect(await told.ask('CL.THROTTLE', 'k', '0', '1', '9')).toBe('-Cell error: no\r\n')
  expect(told.context.stats.failed).toBe(0)
  const store = deskOver(failing(Object.assign(new Error('gone'), { code: 'SLUICE_STORE_TIMEOUT' }), isLater))
  expect(await store.ask('DEL', 'k')).toBe('-ERR gone\r\n')
  const ours = deskOver(failing(new TypeError('x is undefined at /srv/secret.js'), isLater))
  expect(await ours.ask('CL.THROTTLE', 'k', '0', '1', '9')).toBe('-ERR internal error\r\n')
  expect([store.context.stats.failed, ours.context.stats.failed]).toEqual([1, 1])
})
