/** The largest Integer of a structured field: fifteen digits (RFC 9651, section 3.3.1). */
const MAX_INTEGER = 999_999_999_999_999

/** Rounded down into the range of a field. NaN becomes 0, which promises nothing. */
export function integer(value: number): number {
  return value > 0 ? Math.floor(Math.min(value, MAX_INTEGER)) : 0
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** A String of a structured field. */
export function quoted(text: string): string {
  let escaped = ''
  for (const char of printable(text)) {
    const code = char.charCodeAt(0)
    escaped += code === QUOTE || code === BACKSLASH ? `\\${char}` : char
  }
  return `"${escaped}"`
}

/** Keeps printable ASCII and writes other characters as `%` and two hex digits for each byte: `é` is `%C3%A9`. */
export function printable(text: string): string {
  let safe = ''
  for (const byte of new TextEncoder().encode(text)) {
    const plain = byte >= 0x20 && byte <= 0x7e
    safe += plain ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return safe
}

/** Whether this is valid inside a Byte Sequence. A reader drops the whole field for one wrong character. */
export function isBase64(text: string): boolean {
  const { length } = text
  if (length === 0 || length % 4 !== 0) return false
  let end = length
  while (end > length - 2 && text[end - 1] === '=') end--
  for (let i = 0; i < end; i++) if (!isDigit64(text.charCodeAt(i))) return false
  return true
}

/** A to Z, a to z, `/` to `9` (neighbours in ASCII), and `+`. */
function isDigit64(code: number): boolean {
  return (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || (code >= 47 && code <= 57) || code === 43
}
