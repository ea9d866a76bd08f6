import { type RedisServer, startRedis } from 'sluice-harness'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RawClient } from '../fixtures/resp/raw-client.ts'
import { type RespServer, startResp } from './server.ts'
import { memoryThrottle } from './throttle/memory-throttle.ts'

let redis: RedisServer
let guarded: RedisServer
let ours: RespServer
let oursGuarded: RespServer

beforeAll(async () => {
  const throttle = memoryThrottle()
  ;[redis, guarded, ours, oursGuarded] = await Promise.all([
    startRedis(),
    startRedis({ args: ['--requirepass', 'secret'] }),
    startResp({ throttle, port: 0 }),
    startResp({ throttle, port: 0, password: 'secret' }),
  ])
})

afterAll(async () => {
  await Promise.all([redis.stop(), guarded.stop(), ours.close(), oursGuarded.close()])
})

/** All that is answered before the end, which QUIT brings if nothing did before: then there is one more OK. */
async function answers(port: number, bytes: string): Promise<string> {
  const client = await RawClient.connected(port)
  return client.send(`${bytes}QUIT\r\n`).untilClosed()
}

const same = [
  ...['PING\r\n', 'ping\r\n', 'PING hello\r\n', 'PING a b\r\n', '*1\r\n$4\r\nPiNg\r\n', 'PING\n', '\r\n\r\nPING\r\n'],
  ...['ECHO a\r\n', 'ECHO\r\n', 'ECHO a b\r\n', '*2\r\n$4\r\nECHO\r\n$0\r\n\r\n', 'ECHO "a\\x00\\xffb"\r\n'],
  ...['FOO\r\n', 'foo a b\r\n', '*2\r\n$3\r\nFOO\r\n$4\r\na\r\nb\r\n', '*1\r\n$0\r\n\r\n', '$1\r\n'],
  ...[`FOO ${'x'.repeat(200)} ${'y'.repeat(20)}\r\n`, `FOO ${'ab '.repeat(60)}\r\n`, `${'f'.repeat(200)} a\r\n`],
  ...['DEL\r\n', 'DEL a\r\n', 'DEL a b c\r\n'],
  ...['SELECT 0\r\n', 'SELECT 99\r\n', 'SELECT x\r\n', 'SELECT\r\n', 'SELECT 0 1\r\n', 'SELECT -1\r\n'],
  ...['HELLO 4\r\n', 'HELLO 1\r\n', 'HELLO x\r\n', 'HELLO 2 FOO\r\n', 'HELLO AUTH\r\n', 'HELLO 3 AUTH a\r\n'],
  ...['HELLO 3 SETNAME\r\n', 'HELLO 3 SETNAME "a b"\r\n', 'HELLO 3 AUTH bob x\r\n'],
  ...['AUTH x\r\n', 'AUTH default x\r\n', 'AUTH bob x\r\n', 'AUTH\r\n', 'AUTH a b c\r\n'],
  ...['CLIENT\r\n', 'CLIENT FOO\r\n', 'CLIENT ID x\r\n', 'CLIENT GETNAME\r\n', 'CLIENT SETNAME "a b"\r\n'],
  ...['CLIENT SETNAME x\r\nCLIENT GETNAME\r\nRESET\r\nCLIENT GETNAME\r\n', 'CLIENT SETNAME\r\n'],
  ...['COMMAND FOO\r\n', 'COMMAND COUNT 1\r\n', 'COMMAND DOCS nope\r\n', 'COMMAND INFO nope\r\n'],
  ...['RESET\r\n', 'RESET 1\r\n', 'QUIT\r\n', 'QUIT a\r\n', 'QUIT\r\nPING\r\n', 'INFO nope\r\n'],
  ...['*0\r\nPING\r\n', '*-5\r\nPING\r\n', 'PING\r\n*x\r\nPING\r\n'],
  ...['*x\r\n', '*1\r\n*1\r\n', '*1\r\n$-1\r\n', '*1\r\n$2147483647\r\n', '*1\r\n\r\n', '*+1\r\n', '*1 \r\n'],
  ...['a "b\r\n', '"a"b\r\n', "'a'b\r\n", 'POST / HTTP/1.1\r\n', 'Host: x\r\n'],
]

test.each(same)('%j is answered as Redis does', async bytes => {
  expect(await answers(ours.port!, bytes)).toBe(await answers(redis.port, bytes))
})

const sameBehindPassword = [
  ...[
    'PING\r\n',
    'FOO\r\n',
    'ECHO\r\n',
    'DEL a\r\n',
    'HELLO\r\n',
    'HELLO 3\r\n',
    'QUIT\r\n',
    'RESET\r\n',
    'CLIENT ID\r\n',
  ],
  ...[
    'AUTH wrong\r\nPING\r\n',
    'AUTH secret\r\nPING\r\n',
    'AUTH default secret\r\nPING\r\n',
    'AUTH bob secret\r\nPING\r\n',
  ],
  ...[
    'HELLO 2 AUTH default wrong\r\nPING\r\n',
    'AUTH secret\r\nRESET\r\nPING\r\n',
    'AUTH secre\r\n',
    'AUTH secrets\r\n',
  ],
  ...['auth ""\r\n', 'AUTH SECRET\r\n'],
]

test.each(sameBehindPassword)('behind a password, %j is answered as Redis does', async bytes => {
  expect(await answers(oursGuarded.port!, bytes)).toBe(await answers(guarded.port, bytes))
})
