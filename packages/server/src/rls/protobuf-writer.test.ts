import { expect, test } from 'vitest'
import { ProtobufWriter } from './protobuf-writer.ts'

test('a text of any length is whole, wherever the buffer has to grow', () => {
  for (let length = 8160; length < 8200; length++) {
    const writer = new ProtobufWriter()
    const text = 'x'.repeat(length)
    writer.text(1, text)
    const frame = writer.takeFrame()
    expect(frame.readUInt32BE(1)).toBe(length + 3)
    expect(frame.subarray(5 + 3).toString()).toBe(text)
  }
})

test('a frame stays as it was taken, whatever is written after it', () => {
  const writer = new ProtobufWriter()
  const texts = Array.from({ length: 1000 }, (_, i) => `${i}`.repeat(i % 40))
  const frames = texts.map(text => {
    writer.clear()
    writer.text(1, text)
    return writer.takeFrame()
  })
  const written = frames.map(frame => frame.subarray(frame.length - frame.readUInt32BE(1)))
  expect(written.map(message => message.subarray(message.length < 130 ? 2 : 3).toString())).toEqual(texts)
})

test('a frame that failed halfway leaves nothing in the next one', () => {
  const writer = new ProtobufWriter()
  writer.text(1, 'given up')
  writer.clear()
  writer.number(1, 1)
  expect(writer.takeFrame().toString('hex')).toBe('00000000020801')
})

test.each<[value: number, bytes: string]>([
  [0, ''],
  [1, '0801'],
  [127, '087f'],
  [128, '088001'],
  [16_383, '08ff7f'],
  [16_384, '08808001'],
  [2 ** 32 - 1, '08ffffffff0f'],
  [2 ** 32, '088080808010'],
  [315_576_000_000, '0880bcaece9709'],
])('%d is written in as few bytes as it needs', (value, bytes) => {
  const writer = new ProtobufWriter()
  writer.number(1, value)
  expect(writer.takeFrame().subarray(5).toString('hex')).toBe(bytes)
})
