import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { KeyHash, stableHash } from './hash.ts'

const WORD = (1n << 32n) - 1n
const rotate = (word: bigint, by: bigint) => ((word << by) | (word >> (32n - by))) & WORD

/** HalfSipHash as its authors publish it, byte by byte and slow. */
class Reference {
  private v0: bigint
  private v1: bigint
  private v2: bigint
  private v3: bigint
  private readonly block: number
  private readonly finish: number

  constructor(key: { k0: bigint; k1: bigint }, rounds: { block: number; finish: number }, long = false) {
    this.v0 = key.k0
    this.v1 = key.k1 ^ (long ? 0xeen : 0n)
    this.v2 = key.k0 ^ 0x6c796765n
    this.v3 = key.k1 ^ 0x74656462n
    this.block = rounds.block
    this.finish = rounds.finish
  }

  absorb(bytes: readonly number[]): this {
    const padded = [...bytes]
    while (padded.length % 4 !== 3) padded.push(0)
    padded.push(bytes.length & 255)
    for (let i = 0; i < padded.length; i += 4) {
      const word = padded.slice(i, i + 4).reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
      this.v3 ^= word
      this.rounds(this.block)
      this.v0 ^= word
    }
    return this
  }

  /** One more word of the result; the constants are what tells the endings apart. */
  word(constants: { v1?: bigint; v2?: bigint }): bigint {
    this.v1 ^= constants.v1 ?? 0n
    this.v2 ^= constants.v2 ?? 0n
    this.rounds(this.finish)
    return this.v1 ^ this.v3
  }

  /** What the word just read leaves out of the state. */
  get otherWord(): bigint {
    return this.v0 ^ this.v2
  }

  private rounds(n: number): void {
    for (; n > 0; n--) {
      this.v0 = (this.v0 + this.v1) & WORD
      this.v1 = rotate(this.v1, 5n) ^ this.v0
      this.v0 = rotate(this.v0, 16n)
      this.v2 = (this.v2 + this.v3) & WORD
      this.v3 = rotate(this.v3, 8n) ^ this.v2
      this.v0 = (this.v0 + this.v3) & WORD
      this.v3 = rotate(this.v3, 7n) ^ this.v0
      this.v2 = (this.v2 + this.v1) & WORD
      this.v1 = rotate(this.v1, 13n) ^ this.v2
      this.v2 = rotate(this.v2, 16n)
    }
  }
}

const KEY = { k0: 0x03020100n, k1: 0x07060504n } // bytes 00 01 … 07
const hex = (word: bigint) =>
  [0n, 8n, 16n, 24n].map(by => ((word >> by) & 255n).toString(16).padStart(2, '0')).join(' ')
const counting = (length: number) => Array.from({ length }, (_, i) => i)

describe('the reference gives the published vectors of HalfSipHash-2-4', () => {
  const rounds = { block: 2, finish: 4 }
  test.each([
    [0, '21 8d 1f 59 b9 b8 3c c8'],
    [1, 'be 55 24 12 f8 38 73 15'],
    [3, 'ce 0f 1a 45 f7 06 06 79'],
    [4, 'd5 e7 8a 17 5b e5 2e a1'],
  ])('64 bits of the bytes 0 to %d', (length, expected) => {
    const reference = new Reference(KEY, rounds, true).absorb(counting(length))
    expect(`${hex(reference.word({ v2: 0xeen }))} ${hex(reference.word({ v1: 0xddn }))}`).toBe(expected)
  })
  test.each([
    [0, 'a9 35 9f 5b'],
    [1, '27 47 5a b8'],
    [7, '8b cf 63 c5'],
    [16, 'd9 b5 ac 84'],
  ])('32 bits of the bytes 0 to %d', (length, expected) => {
    expect(hex(new Reference(KEY, rounds).absorb(counting(length)).word({ v2: 0xffn }))).toBe(expected)
  })
})

/** What a KeyHash should leave: HalfSipHash-1-3 and the rest of its state, over bytes, or over UTF-16 under the other key. */
function expected(text: string, key0: number, key1: number): { hi: number; lo: number } {
  const units = Array.from({ length: text.length }, (_, i) => text.charCodeAt(i))
  const wide = units.some(unit => unit > 255)
  const bytes = wide ? units.flatMap(unit => [unit & 255, unit >> 8]) : units
  const key = { k0: BigInt.asUintN(32, BigInt(wide ? ~key0 : key0)), k1: BigInt.asUintN(32, BigInt(key1)) }
  const reference = new Reference(key, { block: 1, finish: 3 }).absorb(bytes)
  const signed = (word: bigint) => Number(BigInt.asIntN(32, word))
  return { lo: signed(reference.word({ v2: 0xffn })) || 1, hi: signed(reference.otherWord) }
}

function hashed(text: string, key0: number, key1: number): { hi: number; lo: number } {
  const hash = new KeyHash(key0, key1)
  hash.of(text)
  return { hi: hash.hi, lo: hash.lo }
}

function withoutRandomness<T>(make: () => T): T {
  const randomness = vi.spyOn(crypto, 'getRandomValues').mockImplementation(() => {
    throw new Error('Disallowed operation called within global scope')
  })
  try {
    return make()
  } finally {
    randomness.mockRestore()
  }
}

const narrow = fc.string({
  unit: fc.integer({ min: 0, max: 255 }).map(unit => String.fromCharCode(unit)),
  maxLength: 40,
})
/** Lone surrogates too. */
const any = fc.string({
  unit: fc.integer({ min: 0, max: 65_535 }).map(unit => String.fromCharCode(unit)),
  maxLength: 40,
})
const word = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })

describe('a key hash', () => {
  test('is HalfSipHash-1-3, whatever the text and the key', () => {
    const agrees = fc.property(fc.oneof(narrow, any), word, word, (text, key0, key1) => {
      expect(hashed(text, key0, key1)).toEqual(expected(text, key0, key1))
    })
    fc.assert(agrees, { numRuns: 600 })
  })

  test('of texts up to and past the 256 units their length is counted in', () => {
    for (const length of [0, 1, 2, 3, 4, 5, 7, 8, 255, 256, 257, 1000]) {
      for (const unit of ['x', 'ÿ', 'ž', '🙂']) {
        expect(hashed(unit.repeat(length), 1, -2)).toEqual(expected(unit.repeat(length), 1, -2))
      }
    }
  })

  test('of bytes never meets that of wider text spelt with the same bytes', () => {
    const apart = fc.property(any, word, word, (text, key0, key1) => {
      const units = Array.from({ length: text.length }, (_, i) => text.charCodeAt(i))
      const sameBytes = String.fromCharCode(...units.flatMap(unit => [unit & 255, unit >> 8]))
      fc.pre(sameBytes !== text && units.some(unit => unit > 255))
      expect(hashed(text, key0, key1)).not.toEqual(hashed(sameBytes, key0, key1))
    })
    fc.assert(apart, { numRuns: 300 })
  })

  test('has a lo other than 0, which marks free slots', () => {
    const hash = new KeyHash(0, 0)
    for (let n = 0; n < 100_000; n++) {
      hash.of(`key ${n}`)
      if (hash.lo === 0) expect.unreachable()
    }
  })

  // Of 4,000 secrets, 2,000 should change any one bit; 190 more or fewer is six standard deviations.
  test('changes each of its 64 bits by chance alone with every bit of a text', () => {
    const secrets = fc.sample(fc.tuple(word, word), { numRuns: 4000, seed: 1 })
    const text = 'user:42!'
    for (let bit = 0; bit < text.length * 8; bit++) {
      const at = bit >> 3
      const flipped = String.fromCharCode(text.charCodeAt(at) ^ (1 << (bit & 7)))
      const other = text.slice(0, at) + flipped + text.slice(at + 1)
      const changes = new Array<number>(64).fill(0)
      for (const [key0, key1] of secrets) {
        const one = hashed(text, key0, key1)
        const two = hashed(other, key0, key1)
        for (let i = 0; i < 32; i++) {
          changes[i]! += ((one.lo ^ two.lo) >>> i) & 1
          changes[32 + i]! += ((one.hi ^ two.hi) >>> i) & 1
        }
      }
      expect(Math.min(...changes), `bit ${bit}`).toBeGreaterThan(1810)
      expect(Math.max(...changes), `bit ${bit}`).toBeLessThan(2190)
    }
  })

  test('draws its secret when the first text comes where there is no randomness before', () => {
    const hash = withoutRandomness(() => KeyHash.secret())
    hash.of('user:42')
    const heard = [hash.hi, hash.lo]
    hash.of('user:42')
    expect(heard).toEqual([hash.hi, hash.lo])
    expect(heard).not.toEqual(Object.values(hashed('user:42', 0, 0)))
    const other = withoutRandomness(() => KeyHash.secret())
    other.of('user:42')
    expect([other.hi, other.lo]).not.toEqual(heard)
  })

  test('depends on the secret', () => {
    expect(hashed('user:42', 1, 2)).not.toEqual(hashed('user:42', 2, 1))
  })
})

describe('a stable hash', () => {
  // Every process of every version must find the same: these may never change.
  test.each([
    ['', 2 ** 53 - 1, 2027897637355283],
    ['user:42', 2 ** 53 - 1, 2670531540451778],
    ['user:42', 60_000_000, 451778],
    ['🙂', 60_000_000, 40844018],
    ['203.0.113.7', 31_622_400_000_000, 6_463_774_762_444],
  ])('of %j below %d is %d', (text, bound, golden) => {
    expect(stableHash(text, bound)).toBe(golden)
  })

  test('is below its bound and spread over it', () => {
    const seen = Array.from({ length: 16 }, () => 0)
    for (let n = 0; n < 16_000; n++) seen[stableHash(`user:${n}`, 16)]!++
    expect(Math.min(...seen)).toBeGreaterThan(850)
    expect(Math.max(...seen)).toBeLessThan(1150)
  })

  test('uses 53 of the bits', () => {
    const agrees = fc.property(any, fc.integer({ min: 1, max: 2 ** 53 - 1 }), (text, bound) => {
      const { hi, lo } = expected(text, 0, 0)
      const bits = (BigInt.asUintN(32, BigInt(hi)) >> 11n) * 2n ** 32n + BigInt.asUintN(32, BigInt(lo))
      expect(stableHash(text, bound)).toBe(Number(bits % BigInt(bound)))
    })
    fc.assert(agrees, { numRuns: 300 })
  })
})
