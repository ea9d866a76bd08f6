/**
 * HalfSipHash-1-3 with a 64-bit result, over the UTF-16 code units of a string.
 *
 * With a secret key nobody can choose strings that collide, which is why the memory store uses it; with key (0, 0) it
 * is a stable hash that every process agrees on. The result is left in `hi` and `lo`, as signed 32-bit numbers, since
 * returning a pair would allocate; `lo` is never 0, so that a table can mark its free slots with it.
 */
export class KeyHash {
  hi = 0
  lo = 0
  private readonly key0: number
  private readonly key1: number

  constructor(key0: number, key1: number) {
    this.key0 = key0 | 0
    this.key1 = key1 | 0
  }

  of(text: string): void {
    if (!this.narrow(text)) this.wide(text)
  }

  /** Strings of code units below 256, four to a block: nearly all keys. False, with nothing done, for any other. */
  private narrow(text: string): boolean {
    let v0 = this.key0
    let v1 = this.key1 ^ 0xee
    let v2 = this.key0 ^ 0x6c796765
    let v3 = this.key1 ^ 0x74656462
    const length = text.length
    const blocksEnd = length & ~3
    let units = 0
    let block = 0
    for (let i = 0; i <= blocksEnd; i += 4) {
      if (i < blocksEnd) {
        const a = text.charCodeAt(i)
        const b = text.charCodeAt(i + 1)
        const c = text.charCodeAt(i + 2)
        const d = text.charCodeAt(i + 3)
        units |= a | b | c | d
        block = a | (b << 8) | (c << 16) | (d << 24)
      } else {
        block = length << 24
        for (let j = blocksEnd; j < length; j++) {
          const unit = text.charCodeAt(j)
          units |= unit
          block |= unit << ((j - blocksEnd) << 3)
        }
      }
      v3 ^= block
      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
      v0 ^= block
    }
    if (units > 255) return false
    this.finish(v0, v1, v2, v3)
    return true
  }

  /** Any string, two code units to a block, under a key of its own so that it cannot meet a narrow one. */
  private wide(text: string): void {
    let v0 = this.key0 ^ 0x5a5a5a5a
    let v1 = this.key1 ^ 0xee
    let v2 = this.key0 ^ 0x6c796765
    let v3 = this.key1 ^ 0x74656462
    const length = text.length
    for (let i = 0; i <= length; i += 2) {
      let block = 0
      if (i + 1 < length) block = text.charCodeAt(i) | (text.charCodeAt(i + 1) << 16)
      else block = (length << 24) | (i < length ? text.charCodeAt(i) : 0)
      v3 ^= block
      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
      v0 ^= block
    }
    this.finish(v0, v1, v2, v3)
  }

  private finish(v0: number, v1: number, v2: number, v3: number): void {
    v2 ^= 0xee
    for (let round = 0; round < 6; round++) {
      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
      if (round === 2) {
        this.lo = v1 ^ v3 || 1
        v1 ^= 0xdd
      }
    }
    this.hi = v1 ^ v3
  }
}

const stable = new KeyHash(0, 0)

/** A whole number below `bound` that every process finds for the same text: 53 of the 64 bits, so any safe bound works. */
export function stableHash(text: string, bound: number): number {
  stable.of(text)
  return ((stable.hi >>> 11) * 2 ** 32 + (stable.lo >>> 0)) % bound
}
