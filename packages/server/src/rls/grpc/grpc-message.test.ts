import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { framed, GOOD_FRAME, GOOD_MESSAGE, outcomeOf, rawCall, rawSession, served } from '../../fixtures/rls/raw.ts'
import { started } from '../../fixtures/rls/started.ts'

const concat = (...parts: (Buffer | readonly number[])[]) => Buffer.concat(parts.map(part => Buffer.from(part)))

test('a message arrives whole however it is cut into chunks', async () => {
  const session = rawSession(await started())
  for (let size = 1; size <= GOOD_FRAME.length; size += 6) {
    const stream = rawCall(session)
    const outcome = outcomeOf(stream)
    for (let at = 0; at < GOOD_FRAME.length; at += size) {
      // Each in a frame of its own.
      await new Promise(resolve => stream.write(GOOD_FRAME.subarray(at, at + size), resolve))
    }
    stream.end()
    expect((await outcome).grpc).toBe('0: ')
  }
})

test.each<[what: string, body: Buffer, headers: Record<string, string>, grpc: string]>([
  ['nothing', concat(), {}, '12: expected one message, got none'],
  ['a part of a prefix', GOOD_FRAME.subarray(0, 4), {}, '13: the request ends within the prefix of its message'],
  [
    'a prefix alone',
    GOOD_FRAME.subarray(0, 5),
    {},
    `13: the request ends ${GOOD_MESSAGE.length} bytes before its message`,
  ],
  ['all but a byte', GOOD_FRAME.subarray(0, -1), {}, '13: the request ends 1 bytes before its message'],
  ['two messages', concat(GOOD_FRAME, GOOD_FRAME), {}, '12: expected one message, got more'],
  ['a byte too many', concat(GOOD_FRAME, [0]), {}, '12: expected one message, got more'],
  ['a length of 4 GiB', concat([0, 255, 255, 255, 255]), {}, '8: expected a message of at most 262144 bytes'],
  ['a flag of 2', framed(GOOD_MESSAGE, 2), {}, '13: expected 0 or 1 as the flag of a message, got 2'],
  [
    'a compressed message of no encoding',
    framed(gzipSync(GOOD_MESSAGE), 1),
    {},
    '13: got a compressed message without its encoding',
  ],
  [
    'what is not gzip',
    framed(GOOD_MESSAGE, 1),
    { 'grpc-encoding': 'gzip' },
    '13: got a message that is not valid gzip',
  ],
  [
    'a small message that grows',
    framed(gzipSync(Buffer.alloc(300_000)), 1),
    { 'grpc-encoding': 'gzip' },
    '8: expected a message of at most 262144 bytes',
  ],
  ['an encoding of others', GOOD_FRAME, { 'grpc-encoding': 'br' }, '12: expected identity or gzip as grpc-encoding'],
  ['a plain message beside gzip', GOOD_FRAME, { 'grpc-encoding': 'gzip' }, '0: '],
  ['a plain message called so', GOOD_FRAME, { 'grpc-encoding': 'identity' }, '0: '],
  ['a compressed message', framed(gzipSync(GOOD_MESSAGE), 1), { 'grpc-encoding': 'gzip' }, '0: '],
  [
    'not protobuf',
    framed(concat([255])),
    {},
    '3: the message is not valid protobuf: expected as many bytes as were announced',
  ],
  [
    'no sense in its timeout',
    GOOD_FRAME,
    { 'grpc-timeout': '20' },
    '3: expected a grpc-timeout of up to 8 digits and one of HMSmun, got 20',
  ],
  ['no time at all', GOOD_FRAME, { 'grpc-timeout': '0m' }, '4: the time for this request is over'],
  ['all the time', GOOD_FRAME, { 'grpc-timeout': '99999999H' }, '0: '],
])('a request of %s has a clear answer, and the connection lives on', async (_, body, headers, grpc) => {
  const session = rawSession(await started())
  const stream = rawCall(session, headers)
  stream.end(body)
  expect((await outcomeOf(stream)).grpc).toBe(grpc)
  expect(await served(session)).toBe('0: ')
})

test('a call with an unknown encoding gets the list of the known ones', async () => {
  const stream = rawCall(rawSession(await started()), { 'grpc-encoding': 'br' })
  stream.end(GOOD_FRAME)
  expect((await outcomeOf(stream)).headers['grpc-accept-encoding']).toBe('identity,gzip')
})
