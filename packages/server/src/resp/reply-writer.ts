import type { Integer } from './integer.ts'
import type { ThrottleVerdict } from './throttle/throttle.ts'

const CR = 0x0d
const LF = 0x0a
const MINUS = 0x2d
const ZERO = 0x30
const STAR = 0x2a
const DOLLAR = 0x24
const COLON = 0x3a

const SLAB_BYTES = 64 * 1024
/** The most bytes that one number takes: a type byte, a sign, 19 digits, the end of the line. */
const NUMBER_BYTES = 23

/**
 * Collects replies as bytes until `take` returns them for a single write.
 *
 * The bytes are in a slab that is never reused: a socket may keep the bytes it was given, and a copy would cost more than a
 * new slab now and then. One object serves all connections: one connection's replies are taken before another's are made.
 */
export class ReplyWriter {
  private slab: Buffer = Buffer.allocUnsafeSlow(SLAB_BYTES)
  private from = 0
  private at = 0

  /** Bytes not yet taken. */
  get size(): number {
    return this.at - this.from
  }

  take(): Buffer {
    const bytes = this.slab.subarray(this.from, this.at)
    this.from = this.at
    return bytes
  }

  /** Removes and returns the bytes after the first `size`, because they have to wait for their turn. */
  takeSince(size: number): Buffer {
    const bytes = Buffer.from(this.slab.subarray(this.from + size, this.at))
    this.at = this.from + size
    return bytes
  }

  bytes(bytes: Buffer, start = 0, end = bytes.length): void {
    this.reserve(end - start)
    this.at += bytes.copy(this.slab, this.at, start, end)
  }

  /** Text with one byte per character. */
  text(text: string): void {
    this.reserve(text.length)
    this.at += this.slab.write(text, this.at, 'latin1')
  }

  simple(text: string): void {
    this.text(`+${text}\r\n`)
  }

  error(message: string): void {
    this.text(`-${message.replace(/[\r\n]/g, ' ')}\r\n`)
  }

  integer(value: Integer): void {
    this.reserve(NUMBER_BYTES)
    this.number(COLON, value)
  }

  array(length: number): void {
    this.reserve(NUMBER_BYTES)
    this.number(STAR, length)
  }

  /** The start of a map with this many pairs. RESP2 clients get it as a list. */
  map(protocol: 2 | 3, pairs: number): void {
    if (protocol === 2) this.array(pairs * 2)
    else this.text(`%${pairs}\r\n`)
  }

  /** A null string. */
  nothing(protocol: 2 | 3): void {
    this.text(protocol === 2 ? '$-1\r\n' : '_\r\n')
  }

  bulk(bytes: Buffer, start = 0, end = bytes.length): void {
    this.reserve(NUMBER_BYTES)
    this.number(DOLLAR, end - start)
    this.bytes(bytes, start, end)
    this.text('\r\n')
  }

  bulkText(text: string): void {
    this.text(`$${text.length}\r\n${text}\r\n`)
  }

  /** The answer to CL.THROTTLE: five integers. */
  verdict(verdict: ThrottleVerdict): void {
    this.reserve(6 * NUMBER_BYTES)
    this.number(STAR, 5)
    this.number(COLON, verdict.limited ? 1 : 0)
    this.number(COLON, verdict.limit)
    this.number(COLON, verdict.remaining)
    this.number(COLON, verdict.retryAfter)
    this.number(COLON, verdict.resetAfter)
  }

  /** A type byte, the number and the end of the line. Written digit by digit: a string would cost more than all the rest. */
  private number(mark: number, value: Integer): void {
    const { slab } = this
    slab[this.at++] = mark
    if (typeof value === 'bigint' || value > 0x7fffffff || value < -0x7fffffff) {
      this.at += slab.write(value.toString(), this.at, 'latin1')
    } else {
      let left = value
      if (left < 0) {
        slab[this.at++] = MINUS
        left = -left
      }
      let digits = 1
      for (let power = 10; power <= left; power *= 10) digits++
      for (let i = this.at + digits - 1; i >= this.at; i--) {
        const tenth = (left / 10) | 0
        slab[i] = ZERO + left - tenth * 10
        left = tenth
      }
      this.at += digits
    }
    slab[this.at++] = CR
    slab[this.at++] = LF
  }

  private reserve(bytes: number): void {
    if (this.at + bytes <= this.slab.length) return
    const { size } = this
    const slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, 2 * (size + bytes)))
    this.slab.copy(slab, 0, this.from, this.at)
    this.slab = slab
    this.from = 0
    this.at = size
  }
}
