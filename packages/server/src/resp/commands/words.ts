/** How many words a command may have: enough for `DEL` with 63 keys. */
export const MOST_WORDS = 64

/**
 * The words of one command, as positions in the bytes that arrived: nothing is copied, and no key becomes a string without
 * need. One object serves all connections, since a command is carried out before the next is read.
 */
export class Words {
  bytes: Buffer = Buffer.alloc(0)
  count = 0
  readonly starts = new Int32Array(MOST_WORDS)
  readonly ends = new Int32Array(MOST_WORDS)

  /** One code unit per byte, so that different bytes always give different texts. */
  text(word: number): string {
    return this.bytes.toString('latin1', this.starts[word]!, this.ends[word]!)
  }

  lower(word: number): string {
    return this.text(word).toLowerCase()
  }

  /** Compares without regard to case; `lower` is in lower case. */
  is(word: number, lower: string): boolean {
    const { bytes } = this
    const start = this.starts[word]!
    if (this.ends[word]! - start !== lower.length) return false
    for (let i = 0; i < lower.length; i++) {
      const wanted = lower.charCodeAt(i)
      const found = bytes[start + i]!
      const isLetter = wanted >= 0x61
      if (found !== wanted && !(isLetter && (found | 0x20) === wanted)) return false
    }
    return true
  }
}
