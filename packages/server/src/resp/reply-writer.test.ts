import { expect, test } from 'vitest'
import { ReplyWriter } from './reply-writer.ts'

const numbers = [0, 1, 9, 10, 99, 100, 1_000_000, 2 ** 31 - 1, 2 ** 31, 2 ** 53 - 1, -1, -10, -(2 ** 31), -(2 ** 53)]

test.each([...numbers, 2n ** 63n - 1n, -(2n ** 63n)])('%s is written as it is', value => {
  const reply = new ReplyWriter()
  reply.integer(value)
  expect(reply.take().toString()).toBe(`:${value}\r\n`)
})

test('bytes that were taken do not change, however much is written later', () => {
  const reply = new ReplyWriter()
  const taken: [Buffer, string][] = []
  for (let i = 0; i < 5000; i++) {
    const text = `${i} `.repeat(i % 50)
    reply.bulkText(text)
    reply.integer(i)
    taken.push([reply.take(), `$${text.length}\r\n${text}\r\n:${i}\r\n`])
  }
  for (const [bytes, text] of taken) expect(bytes.toString()).toBe(text)
})

test('a reply larger than a slab comes out whole', () => {
  const reply = new ReplyWriter()
  const long = Buffer.alloc(200_000, 'x')
  reply.simple('first')
  for (let i = 0; i < 3; i++) reply.bulk(long)
  expect(reply.take().toString()).toBe(`+first\r\n${`$200000\r\n${long}\r\n`.repeat(3)}`)
  expect(reply.size).toBe(0)
})

test('bytes that have to wait are removed, and earlier ones stay', () => {
  const reply = new ReplyWriter()
  reply.simple('now')
  const { size } = reply
  reply.simple('later')
  expect(reply.takeSince(size).toString()).toBe('+later\r\n')
  expect(reply.take().toString()).toBe('+now\r\n')
})

test('an error is one line, whatever its text', () => {
  const reply = new ReplyWriter()
  reply.error('ERR a\r\n+OK\r\n')
  expect(reply.take().toString()).toBe('-ERR a  +OK  \r\n')
})
