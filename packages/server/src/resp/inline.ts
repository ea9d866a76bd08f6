import { MOST_WORDS, type Words } from './commands/words.ts'
import { ProtocolError } from './protocol-error.ts'

const SPACE = 0x20
const DOUBLE = 0x22
const SINGLE = 0x27
const BACKSLASH = 0x5c

/** Escapes after a backslash in double quotes. Any other character stands for itself. */
const ESCAPES: ReadonlyMap<number, number> = new Map(
  Object.entries({ n: 0x0a, r: 0x0d, t: 0x09, b: 0x08, a: 0x07 }).map(([letter, byte]) => [letter.charCodeAt(0), byte]),
)

/**
 * Splits a line into words by the rules of Redis: blanks between words, `"…"` with escapes, `'…'` with `\'` only, and a
 * closing quote ends its word.
 */
export function splitLine(line: Buffer, words: Words): void {
  const bytes = Buffer.allocUnsafe(line.length)
  words.bytes = bytes
  words.count = 0
  let to = 0
  let at = 0
  for (;;) {
    while (at < line.length && isBlank(line[at]!)) at++
    if (at === line.length) return
    if (words.count === MOST_WORDS) throw new ProtocolError('too many words in inline request')
    words.starts[words.count] = to
    let quote = 0
    for (; at < line.length; at++) {
      const byte = line[at]!
      if (byte === quote) break
      if (quote === 0 && isBlank(byte)) break
      if (quote === 0 && (byte === DOUBLE || byte === SINGLE)) quote = byte
      else if (quote === DOUBLE && byte === BACKSLASH && at + 1 < line.length) {
        const hex = hexAt(line, at + 1)
        bytes[to++] = hex >= 0 ? hex : (ESCAPES.get(line[at + 1]!) ?? line[at + 1]!)
        at += hex >= 0 ? 3 : 1
      } else if (quote === SINGLE && byte === BACKSLASH && line[at + 1] === SINGLE) bytes[to++] = line[++at]!
      else bytes[to++] = byte
    }
    if (quote !== 0 && !closes(line, at)) throw new ProtocolError('unbalanced quotes in request')
    if (quote !== 0) at++
    words.ends[words.count++] = to
  }
}

/** Whether there is a quote at `at` and only a blank or the end after it. */
function closes(line: Buffer, at: number): boolean {
  return at < line.length && (at + 1 === line.length || isBlank(line[at + 1]!))
}

function isBlank(byte: number): boolean {
  return byte === SPACE || (byte >= 0x09 && byte <= 0x0d)
}

/** The byte that `xHH` at `at` stands for, or -1. */
function hexAt(line: Buffer, at: number): number {
  const digits = /^x([0-9a-f]{2})$/i.exec(line.toString('latin1', at, at + 3))?.[1]
  return digits === undefined ? -1 : Number.parseInt(digits, 16)
}
