import { expect, test } from 'vitest'
import { HalfSipHash } from './half-sip-hash.ts'

/** HalfSipHash as its authors wrote it, with its rounds as numbers and the state as a list. */
function reference(key: Buffer, message: Buffer, compression: number, finalisation: number): string {
  const v = [key.readInt32LE(0), key.readInt32LE(4), 0x6c796765 ^ key.readInt32LE(0), 0x74656462 ^ key.readInt32LE(4)]
  const rotate = (i: number, by: number) => {
    v[i] = (v[i]! << by) | (v[i]! >>> (32 - by))
  }
  const mix = (to: number, from: number, by: number) => {
    v[to] = (v[to]! + v[from]!) | 0
    rotate(from, by)
    v[from]! ^= v[to]!
  }
  const rounds = (count: number) => {
    for (let i = 0; i < count; i++) {
      mix(0, 1, 5)
      rotate(0, 16)
      mix(2, 3, 8)
      mix(0, 3, 7)
      mix(2, 1, 13)
      rotate(2, 16)
    }
  }
  v[1]! ^= 0xee
  const padded = Buffer.alloc((message.length & ~3) + 4)
  message.copy(padded)
  padded[padded.length - 1] = message.length
  for (let at = 0; at < padded.length; at += 4) {
    v[3]! ^= padded.readInt32LE(at)
    rounds(compression)
    v[0]! ^= padded.readInt32LE(at)
  }
  const out = Buffer.alloc(8)
  v[2]! ^= 0xee
  rounds(finalisation)
  out.writeInt32LE(v[1]! ^ v[3]!, 0)
  v[1]! ^= 0xdd
  rounds(finalisation)
  out.writeInt32LE(v[1]! ^ v[3]!, 4)
  return out.toString('hex')
}

const key = Buffer.from([0, 1, 2, 3, 4, 5, 6, 7])
const counting = (length: number) => Buffer.from(Array.from({ length }, (_, i) => i))

test('the reference gives the published values', () => {
  expect(reference(key, counting(0), 2, 4)).toBe('218d1f59b9b83cc8')
  expect(reference(key, counting(1), 2, 4)).toBe('be552412f8387315')
})

test('the hash is the reference with one round and three', () => {
  const hash = new HalfSipHash(key.readInt32LE(0), key.readInt32LE(4))
  for (let length = 0; length < 300; length++) {
    const bytes = Buffer.concat([Buffer.from('before'), counting(length), Buffer.from('after')])
    hash.of(bytes, 6, 6 + length)
    const found = Buffer.alloc(8)
    found.writeInt32LE(hash.lo, 0)
    found.writeInt32LE(hash.hi, 4)
    expect([length, found.toString('hex')]).toEqual([length, reference(key, counting(length), 1, 3)])
  }
})
