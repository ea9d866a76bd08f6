/**
 * Bytes that arrive in chunks, copied together as they come. A client may send a megabyte one byte at a time, and a list of
 * such chunks takes more than a hundred times the memory of their bytes.
 */
export class JoinedChunks {
  size = 0
  private bytes: Buffer = Buffer.alloc(0)
  /** Whether `bytes` is a copy, with room for more. */
  private isCopy = false

  add(chunk: Buffer): void {
    const size = this.size + chunk.length
    if (this.size === 0) this.bytes = chunk
    else {
      if (!this.isCopy || size > this.bytes.length) {
        const larger = Buffer.allocUnsafe(2 * size)
        this.bytes.copy(larger, 0, 0, this.size)
        this.bytes = larger
        this.isCopy = true
      }
      chunk.copy(this.bytes, this.size)
    }
    this.size = size
  }

  get whole(): Buffer {
    return this.size === this.bytes.length ? this.bytes : this.bytes.subarray(0, this.size)
  }
}
