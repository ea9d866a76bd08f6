/**
 * HalfSipHash-1-3 over the UTF-16 code units of a string, with a 64-bit result.
 *
 * With a secret key no caller can choose strings that collide; the memory store uses it that way. With key (0, 0) it is
 * a stable hash that every process agrees on. The result is left in `hi` and `lo` as signed 32-bit numbers, and `lo` is
 * also returned, because a pair would be allocated. `lo` is never 0, so a table can mark free slots with it.
 *
 * `lo` is HalfSipHash as published for 32 bits: the second and fourth word of the final state together. `hi` is the
 * first and third; the publication for 64 bits runs three more rounds for it. Those would hide the secret from a reader
 * of hashes, but no hash under a secret ever leaves the process. It is enough that every bit of the text changes both
 * words unpredictably, so that no caller can aim at a place in a table.
 */
export class KeyHash {
  hi = 0
  lo = 0
  private key0: number
  private key1: number

  constructor(key0: number, key1: number) {
    this.key0 = key0 | 0
    this.key1 = key1 | 0
  }

  /**
   * Hashes under a random secret. Edge workers have no randomness before their first request, when limiters are made,
   * so the secret is drawn at the first text.
   */
  static secret(): KeyHash {
    const hash = new KeyHash(0, 0)
    try {
      hash.draw()
    } catch {
      hash.of = text => {
        hash.draw()
        hash.of = KeyHash.prototype.of
        return hash.of(text)
      }
    }
    return hash
  }

  private draw(): void {
    const [key0, key1] = crypto.getRandomValues(new Int32Array(2))
    this.key0 = key0!
    this.key1 = key1!
  }

  /**
   * Hashes code units below 256, four to a block, which fits nearly all keys. Any other string is hashed as bytes under
   * another key, so that it cannot collide with these. It is one long function, because a call costs as much as a
   * round.
   */
  of(text: string): number {
    let v0 = this.key0
    let v1 = this.key1
    let v2 = v0 ^ 0x6c796765
    let v3 = v1 ^ 0x74656462
    const length = text.length
    const whole = length & ~3
    let units = 0
    for (let i = 0; i < whole; i += 4) {
      const a = text.charCodeAt(i)
      const b = text.charCodeAt(i + 1)
      const c = text.charCodeAt(i + 2)
      const d = text.charCodeAt(i + 3)
      units |= a | b | c | d
      const block = a | (b << 8) | (c << 16) | (d << 24)
      v3 ^= block
      v0 = (v0 + v1) | 0
      v2 = (v2 + v3) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (((v0 << 16) | (v0 >>> 16)) + v3) | 0
      v2 = (v2 + v1) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
      v0 ^= block
    }
    let last = length << 24
    for (let i = whole; i < length; i++) {
      const unit = text.charCodeAt(i)
      units |= unit
      last |= unit << ((i & 3) << 3)
    }
    if (units > 255) {
      this.ofWide(text)
      return this.lo
    }
    v3 ^= last
    v0 = (v0 + v1) | 0
    v2 = (v2 + v3) | 0
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
    v0 = (((v0 << 16) | (v0 >>> 16)) + v3) | 0
    v2 = (v2 + v1) | 0
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
    v2 = (v2 << 16) | (v2 >>> 16)
    v0 ^= last
    v2 ^= 0xff
    for (let round = 0; round < 3; round++) {
      v0 = (v0 + v1) | 0
      v2 = (v2 + v3) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (((v0 << 16) | (v0 >>> 16)) + v3) | 0
      v2 = (v2 + v1) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
    }
    this.hi = v0 ^ v2
    this.lo = v1 ^ v3 || 1
    return this.lo
  }

  private ofWide(text: string): void {
    const wide = new KeyHash(~this.key0, this.key1)
    wide.of(bytesOf(text))
    this.hi = wide.hi
    this.lo = wide.lo
  }
}

function bytesOf(text: string): string {
  let bytes = ''
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    bytes += String.fromCharCode(unit & 255, unit >>> 8)
  }
  return bytes
}

const stable = new KeyHash(0, 0)

/**
 * A whole number below `bound` that every process computes for the same text. It uses 53 of the 64 bits, so any safe
 * bound works.
 */
export function stableHash(text: string, bound: number): number {
  stable.of(text)
  return ((stable.hi >>> 11) * 2 ** 32 + (stable.lo >>> 0)) % bound
}
