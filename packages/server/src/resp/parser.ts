import { MOST_WORDS, type Words } from './commands/words.ts'
import { splitLine } from './inline.ts'
import { ProtocolError } from './protocol-error.ts'

/** The longest word, so that a key may have 64 KiB. */
const LONGEST_WORD = 64 * 1024
/** The longest command, which is also the most that is kept for a connection. */
const LONGEST_FRAME = 128 * 1024
const LONGEST_LINE = 4 * 1024
const MOST_DIGITS = 10

const STAR = 0x2a
const DOLLAR = 0x24
const MINUS = 0x2d
const ZERO = 0x30
const CR = 0x0d
const LF = 0x0a

/** Says that the frame is not complete yet. */
const INCOMPLETE = -1

const NOTHING = Buffer.alloc(0)

/**
 * Reads commands from the bytes of one connection, in chunks cut anywhere: arrays of bulk strings, or lines as people type
 * them.
 *
 * A frame is read again from its start when more bytes have come: at most 64 lengths, since words are skipped, not
 * scanned. Lengths are judged as soon as they are read, so a frame that announces too much costs nothing.
 */
export class Parser {
  private readonly words: Words
  private bytes: Buffer = NOTHING
  private at = 0
  private end = 0
  /** Whether `bytes` is a buffer made here, with room to append, rather than a received chunk. */
  private own = false
  /** Where the length that was read last ends. */
  private mark = 0
  private frameStart = 0

  constructor(words: Words) {
    this.words = words
  }

  /** How many bytes wait: part of a frame, or frames that were not read yet. */
  get restBytes(): number {
    return this.end - this.at
  }

  feed(chunk: Buffer): void {
    if (this.at === this.end) {
      this.bytes = chunk
      this.at = 0
      this.end = chunk.length
      this.own = false
    } else this.append(chunk)
  }

  /** Puts the next command into the words; false if none is complete. Throws the error that the client is sent. */
  next(): boolean {
    const { words } = this
    while (this.at < this.end) {
      this.frameStart = this.at
      const end = this.bytes[this.at] === STAR ? this.array() : this.line()
      if (end === INCOMPLETE) return false
      this.at = end
      if (words.count > 0) return true
    }
    this.clear()
    return false
  }

  clear(): void {
    this.bytes = NOTHING
    this.at = 0
    this.end = 0
  }

  /** Un-reads the last command: `next` will find it again. */
  back(): void {
    this.at = this.frameStart
  }

  /** Room grows by doubling, so bytes that come one by one are not copied over and over. */
  private append(chunk: Buffer): void {
    const rest = this.end - this.at
    if (!this.own || this.end + chunk.length > this.bytes.length) {
      const grown = Buffer.allocUnsafe(2 * (rest + chunk.length))
      this.bytes.copy(grown, 0, this.at, this.end)
      this.bytes = grown
      this.at = 0
      this.end = rest
      this.own = true
    }
    chunk.copy(this.bytes, this.end)
    this.end += chunk.length
  }

  private array(): number {
    const { bytes, words, end } = this
    const isNegative = bytes[this.at + 1] === MINUS
    const announced = this.length(this.at + (isNegative ? 2 : 1), 'invalid multibulk length')
    if (announced === INCOMPLETE) return INCOMPLETE
    if (announced > MOST_WORDS) throw new ProtocolError('invalid multibulk length')
    const count = isNegative ? 0 : announced
    let at = this.mark
    for (let word = 0; word < count; word++) {
      if (at === end) return INCOMPLETE
      if (bytes[at] !== DOLLAR) throw new ProtocolError(`expected '$', got '${printable(bytes[at]!)}'`)
      const length = this.length(at + 1, 'invalid bulk length')
      if (length === INCOMPLETE) return INCOMPLETE
      const start = this.mark
      at = start + length + 2
      if (length > LONGEST_WORD) throw new ProtocolError('invalid bulk length')
      if (at - this.at > LONGEST_FRAME) throw new ProtocolError('too big request')
      if (at > end) return INCOMPLETE
      if (bytes[at - 2] !== CR || bytes[at - 1] !== LF) throw new ProtocolError('expected CRLF after bulk')
      words.starts[word] = start
      words.ends[word] = at - 2
    }
    words.bytes = bytes
    words.count = count
    return at
  }

  /** The number from `first` to the end of its line. */
  private length(first: number, complaint: string): number {
    const { bytes, end } = this
    let value = 0
    let i = first
    for (; i < end; i++) {
      const digit = bytes[i]! - ZERO
      if (digit < 0 || digit > 9) break
      value = value * 10 + digit
    }
    const digits = i - first
    if (digits > MOST_DIGITS || (digits > 1 && bytes[first] === ZERO)) throw new ProtocolError(complaint)
    if (i < end && (bytes[i] !== CR || digits === 0)) throw new ProtocolError(complaint)
    if (i + 1 >= end) return INCOMPLETE
    if (bytes[i + 1] !== LF) throw new ProtocolError(complaint)
    this.mark = i + 2
    return value
  }

  private line(): number {
    const { bytes, at, end } = this
    const found = bytes.indexOf(LF, at)
    const isWhole = found >= 0 && found < end // after the end, the buffer holds old bytes
    if ((isWhole ? found : end) - at > LONGEST_LINE) throw new ProtocolError('too big inline request')
    if (!isWhole) return INCOMPLETE
    splitLine(bytes.subarray(at, found > at && bytes[found - 1] === CR ? found - 1 : found), this.words)
    return found + 1
  }
}

/** Replaces control characters, which would break the line of the error reply. */
function printable(byte: number): string {
  return byte < 0x20 || byte > 0x7e ? ' ' : String.fromCharCode(byte)
}
