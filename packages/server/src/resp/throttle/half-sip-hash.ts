/**
 * HalfSipHash-1-3 over bytes, with 64 bits of output. Its key is secret, so callers cannot choose colliding keys and the
 * hash can stand for the key. The result is in `hi` and `lo`, which avoids allocating a pair. `lo` is never 0, since 0
 * marks a free slot of a table.
 */
export class HalfSipHash {
  hi = 0
  lo = 0
  private readonly key0: number
  private readonly key1: number

  constructor(key0: number, key1: number) {
    this.key0 = key0 | 0
    this.key1 = key1 | 0
  }

  of(bytes: Buffer, start: number, end: number): void {
    let v0 = this.key0
    let v1 = this.key1 ^ 0xee
    let v2 = this.key0 ^ 0x6c796765
    let v3 = this.key1 ^ 0x74656462
    const length = end - start
    const blocks = (length >> 2) + 1
    let lo = 0
    // One round for each block of four bytes, of which the last has the length; then twice three rounds without input.
    for (let round = 0, at = start; round < blocks + 6; round++, at += 4) {
      let block = 0
      if (round < blocks - 1) {
        block = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
      } else if (round === blocks - 1) {
        block = length << 24
        for (let i = at; i < end; i++) block |= bytes[i]! << ((i - at) << 3)
      } else if (round === blocks) v2 ^= 0xee
      else if (round === blocks + 3) {
        lo = v1 ^ v3
        v1 ^= 0xdd
      }
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
    this.hi = v1 ^ v3
    this.lo = lo === 0 ? 1 : lo
  }
}
