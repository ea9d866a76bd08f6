import { createServer, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { ask, encodeCommand, parseReply, RespError } from './resp.ts'

test.each([
  ['+OK\r\n', 'OK'],
  [':-12\r\n', -12],
  ['$5\r\na\r\nbc\r\n', 'a\r\nbc'],
  ['$0\r\n\r\n', ''],
  ['$3\r\n€\r\n', '€'],
  ['$-1\r\n', null],
  ['*-1\r\n', null],
  ['*0\r\n', []],
  ['*3\r\n:1\r\n*1\r\n+a\r\n$-1\r\n', [1, ['a'], null]],
  ['*1\r\n-ERR no\r\n', [new RespError('ERR no')]],
])('%j is read as %j, and as nothing while a byte is missing', (text, value) => {
  const bytes = Buffer.from(text)
  expect(parseReply(bytes)).toEqual({ value, end: bytes.length })
  for (let length = 0; length < bytes.length; length++) expect(parseReply(bytes.subarray(0, length))).toBeUndefined()
})

test('a command is written with lengths in bytes', () => {
  expect(encodeCommand(['GET', '€'])).toBe('*2\r\n$3\r\nGET\r\n$3\r\n€\r\n')
})

test.each([
  ['closes', (socket: Socket) => socket.end(), 'PING to 127.0.0.1:%: the connection was closed'],
  ['says nothing', () => {}, 'PING to 127.0.0.1:%: no reply within 50 ms'],
])('a server that %s is an error, not a wait', async (_, behave, message) => {
  const server = createServer(behave)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const asked = ask({ host: '127.0.0.1', port }, ['PING'], 50)
  await expect(asked).rejects.toThrow(message.replace('%', String(port)))
  server.close()
})
