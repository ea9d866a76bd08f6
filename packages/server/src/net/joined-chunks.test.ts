import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { JoinedChunks } from './joined-chunks.ts'

test('any chunks are joined in their order, and left as they were', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 9 })), arrays => {
      const chunks = arrays.map(array => Buffer.from(array))
      const joined = new JoinedChunks()
      for (const chunk of chunks) joined.add(chunk)
      expect(joined.whole.equals(Buffer.concat(arrays))).toBe(true)
      expect(joined.size).toBe(joined.whole.length)
      expect(chunks.every((chunk, i) => chunk.equals(arrays[i]!))).toBe(true)
    }),
  )
})

test('a single chunk is not copied', () => {
  const chunk = Buffer.from('whole')
  const joined = new JoinedChunks()
  joined.add(chunk)
  expect(joined.whole).toBe(chunk)
})

test('a megabyte that comes byte by byte takes little more than a megabyte', () => {
  setFlagsFromString('--expose_gc')
  const collect = runInNewContext('gc') as () => void
  const usedMb = () => {
    collect()
    const { heapUsed, external } = process.memoryUsage()
    return (heapUsed + external) / 2 ** 20
  }
  const before = usedMb()
  const joined = new JoinedChunks()
  const slab = Buffer.alloc(65_536)
  for (let i = 0; i < 1_048_576; i++) joined.add(slab.subarray(i % 65_536, (i % 65_536) + 1))
  expect(usedMb() - before).toBeLessThan(10)
  expect(joined.size).toBe(1_048_576)
})
