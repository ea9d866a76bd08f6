const CHUNK = 8 * 1024

/**
 * Writes protobuf's wire format from the back to the front. A nested message is then complete before its length is written,
 * so nothing is measured beforehand or moved afterwards. Write fields in falling order to get them in rising order. A taken
 * frame keeps its bytes, and the next one is written in front of it.
 */
export class ProtobufWriter {
  private bytes = Buffer.allocUnsafeSlow(CHUNK)
  private at = CHUNK
  private end = CHUNK

  /** How many bytes are written. Pass an earlier value to `message` to wrap the bytes written since. */
  get size(): number {
    return this.end - this.at
  }

  clear(): void {
    this.at = this.end
  }

  /** Does not write 0 or an empty text, since a missing field means the same. */
  number(field: number, value: number): void {
    if (value === 0) return
    this.varint(value)
    this.varint(field * 8)
  }

  text(field: number, value: string): void {
    if (value === '') return
    const length = Buffer.byteLength(value)
    this.makeRoom(length)
    this.at -= length
    this.bytes.write(value, this.at, 'utf8')
    this.varint(length)
    this.varint(field * 8 + 2)
  }

  message(field: number, sizeBefore: number): void {
    this.varint(this.size - sizeBefore)
    this.varint(field * 8 + 2)
  }

  /** The message behind gRPC's prefix: a byte that says it is not compressed, and its length. */
  takeFrame(): Buffer {
    const { size } = this
    this.makeRoom(5)
    this.at -= 5
    this.bytes[this.at] = 0
    this.bytes.writeUInt32BE(size, this.at + 1)
    const frame = this.bytes.subarray(this.at, this.end)
    this.end = this.at
    return frame
  }

  private varint(value: number): void {
    this.makeRoom(8)
    let { at } = this
    if (value < 0x80) {
      this.bytes[--at] = value
    } else {
      let length = 1
      for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length++
      at -= length
      let rest = value
      for (let i = 0; i < length - 1; i++) {
        this.bytes[at + i] = (rest % 0x80) + 0x80
        rest = Math.floor(rest / 0x80)
      }
      this.bytes[at + length - 1] = rest
    }
    this.at = at
  }

  private makeRoom(count: number): void {
    if (count <= this.at) return
    const { size } = this
    const next = Buffer.allocUnsafeSlow(Math.max(CHUNK, 2 * (size + count)))
    this.bytes.copy(next, next.length - size, this.at, this.end)
    this.bytes = next
    this.end = next.length
    this.at = next.length - size
  }
}
