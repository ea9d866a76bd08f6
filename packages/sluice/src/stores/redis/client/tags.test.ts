import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeKey } from '../../../limiter/key.ts'
import { tagOf } from './tags.ts'

/** Of the characters that keys are put together with, few, so that accidents are likely. */
const tricky = fc.string({ unit: fc.constantFrom(...':;{}%~-0123 \u0000afdls🙂'), maxLength: 6 })
const broken = fc.string({ unit: fc.constantFrom('%', '8', '\ud800', '\ud801', '\udc00', '🙂'), maxLength: 6 })
const anyText = fc.oneof(tricky, broken, fc.string({ unit: 'grapheme' }))

/** FNV-1a and the first step of MurmurHash3's ending, in numbers that never overflow. */
function hashOf(text: string): bigint {
  let hash = 0x811c9dc5n
  for (let i = 0; i < text.length; i++) hash = ((hash ^ BigInt(text.charCodeAt(i))) * 0x01000193n) % 2n ** 32n
  hash = ((hash ^ (hash >> 16n)) * 0x85ebca6bn) % 2n ** 32n
  return hash ^ (hash >> 13n)
}

describe('the hash tag of a key', () => {
  // Every process of every version must find the same: these may never change.
  test.each([
    ['', 1],
    ['user:42', 25],
    ['203.0.113.7', 88],
    ['🙂🙂', 5],
  ])('of %j is %d', (key, golden) => {
    expect(tagOf(key, 128)).toBe(golden)
  })

  test('is the hash of its first part', () => {
    const firsts = fc.property(
      anyText,
      fc.array(anyText, { maxLength: 3 }),
      fc.integer({ min: 1, max: 16_384 }),
      (first, rest, tags) => {
        expect(tagOf(encodeKey([first, ...rest], ''), tags)).toBe(Number(hashOf(first) % BigInt(tags)))
      },
    )
    fc.assert(firsts, { numRuns: 500 })
  })

  test('is the same for a key of one part and the plain key', () => {
    fc.assert(
      fc.property(anyText, text => {
        expect(tagOf(encodeKey(text, ''), 128)).toBe(tagOf(encodeKey([text], ''), 128))
      }),
    )
  })

  test.each([
    ['users', (n: number) => `user:${n}`],
    ['addresses', (n: number) => `10.0.${n >> 8}.${n & 255}`],
    ['networks', (n: number) => `2001:db8:${n.toString(16)}::/64`],
    ['padded numbers', (n: number) => String(n).padStart(12, '0')],
    ['numbers a hundred apart', (n: number) => `${n}00`],
  ])('spreads %s evenly', (_, keyOf) => {
    const counts = new Array<number>(128).fill(0)
    for (let n = 0; n < 12_800; n++) counts[tagOf(keyOf(n), 128)]!++
    expect(Math.min(...counts)).toBeGreaterThan(60)
    expect(Math.max(...counts)).toBeLessThan(145)
  })
})
