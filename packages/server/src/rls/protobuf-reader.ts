import { GrpcError } from './grpc/grpc-status.ts'

/** Keys are data: invalid UTF-8 is an error instead of a replacement character, and a byte order mark is kept. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const DEEPEST_GROUP = 100
const VARINT = 0
const FIXED64 = 1
const LENGTH = 2
const GROUP = 3
const GROUP_END = 4
const FIXED32 = 5

/**
 * Reads a message in protobuf's wire format, never beyond the end of the message that was entered last. Malformed bytes
 * throw INVALID_ARGUMENT.
 */
export class ProtobufReader {
  private readonly bytes: Buffer
  private at = 0
  private end: number

  constructor(bytes: Buffer) {
    this.bytes = bytes
    this.end = bytes.length
  }

  get isAtEnd(): boolean {
    return this.at === this.end
  }

  /** Enters a nested message. Pass the result to `leave` after its last field. */
  enter(): number {
    const outer = this.end
    const length = this.length()
    this.end = this.at + length
    return outer
  }

  leave(outer: number): void {
    this.end = outer
  }

  /** A field's number and wire type in one number, as written: `number << 3 | type`. */
  tag(): number {
    const tag = this.uint64()
    if (tag < 8 || tag > 0xffff_ffff) throw malformed(`a field number from 1 to ${2 ** 29 - 1}`)
    return tag
  }

  /** The low 32 bits; the format defines that larger values are cut so. */
  uint32(): number {
    let low = 0
    for (let shift = 0; ; shift += 7) {
      const next = this.byteOfVarint(shift)
      if (shift < 32) low |= (next & 0x7f) << shift
      if (next < 0x80) return low >>> 0
    }
  }

  /** A value above the largest safe integer becomes the largest safe integer. */
  uint64(): number {
    let value = 0
    let scale = 1
    for (let shift = 0; ; shift += 7) {
      const next = this.byteOfVarint(shift)
      value += (next & 0x7f) * scale
      if (next < 0x80) return Math.min(value, Number.MAX_SAFE_INTEGER)
      scale *= 0x80
    }
  }

  string(): string {
    const length = this.length()
    const start = this.at
    const end = start + length
    const { bytes } = this
    this.at = end
    let at = start
    while (at < end && bytes[at]! < 0x80) at++
    if (at === end) return bytes.toString('latin1', start, end)
    try {
      return UTF8.decode(bytes.subarray(start, end))
    } catch {
      throw malformed('valid UTF-8 in every string')
    }
  }

  /** Skips a field that is unknown or has another type than expected. */
  skip(tag: number): void {
    const groups: number[] = []
    let next = tag
    for (;;) {
      const type = next & 7
      if (type === GROUP) groups.push(next)
      else if (type === GROUP_END) this.endGroup(groups.pop(), next)
      else this.skipValue(type)
      if (groups.length === 0) return
      if (groups.length > DEEPEST_GROUP) throw malformed(`groups nested no deeper than ${DEEPEST_GROUP}`)
      next = this.tag()
    }
  }

  private endGroup(start: number | undefined, end: number): void {
    if (start === undefined || start >>> 3 !== end >>> 3) throw malformed('every group to end where it began')
  }

  private skipValue(type: number): void {
    if (type === VARINT) this.uint64()
    else if (type === LENGTH) this.pass(this.length())
    else if (type === FIXED64) this.pass(8)
    else if (type === FIXED32) this.pass(4)
    else throw malformed('a wire type from 0 to 5')
  }

  private pass(count: number): void {
    if (count > this.end - this.at) throw truncated()
    this.at += count
  }

  private length(): number {
    const length = this.uint64()
    if (length > this.end - this.at) throw truncated()
    return length
  }

  private byteOfVarint(shift: number): number {
    if (this.at >= this.end) throw truncated()
    const byte = this.bytes[this.at++]!
    if (shift === 63 && byte > 1) throw malformed('no varint of more than 64 bits')
    return byte
  }
}

function malformed(what: string): GrpcError {
  return new GrpcError('INVALID_ARGUMENT', `the message is not valid protobuf: expected ${what}`)
}

function truncated(): GrpcError {
  return malformed('as many bytes as were announced')
}
