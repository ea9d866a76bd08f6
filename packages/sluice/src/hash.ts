/**
 * HalfSipHash-1-3 over the UTF-16 code units of a string, with a 64-bit result.
 *
 * With a secret key nobody can choose strings that collide, which is why the memory store uses it; with key (0, 0) it
 * is a stable hash that every process agrees on. The result is left in `hi` and `lo` (which is returned, too), as signed
 * 32-bit numbers, since a pair would be allocated; `lo` is never 0, so that a table can mark its free slots with it.
 *
 * `lo` is HalfSipHash as published for 32 bits: the second and fourth word of the final state together. `hi` is the first
 * and third, where the publication for 64 bits goes three rounds further. Nobody ever sees the hash of a key under a
 * secret, so there is nothing for more rounds to hide; what counts is that both words change by chance alone with every
 * bit of the text, so that nobody can aim at a place in a table.
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
   * Under a secret that nobody knows. Workers at the edge have no randomness before their first request, and that is
   * when limiters are made: there the secret is drawn when the first text comes.
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
   * Hashes code units below 256, four to a block, which fits nearly all keys. Any other string goes as bytes, under a
   * key of its own so that it cannot meet one of these. One long function, because a call costs as much as a round.
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

/** A whole number below `bound` that every process finds for the same text: 53 of the 64 bits, so any safe bound works. */
export function stableHash(text: string, bound: number): number {
  stable.of(text)
  return ((stable.hi >>> 11) * 2 ** 32 + (stable.lo >>> 0)) % bound
}
