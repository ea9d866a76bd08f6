import { expect, test } from 'vitest'
import { ProtobufWriter } from './protobuf-writer.ts'

test('a text of any length is whole, wherever the buffer has to grow', () => {
  for (let length = 1000; length < 1040; length++) {
    const writer = new ProtobufWriter()
    const text = 'x'.repeat(length)
    writer.text(1, text)
    const frame = writer.takeFrame()
    expect(frame.readUInt32BE(1)).toBe(length + 3)
    expect(frame.subarray(5 + 3).toString()).toBe(text)
  }
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
