/** How many words a command may have: `DEL` of 63 keys. */
export const MOST_WORDS = 64

/**
 * The words of one command, as places in the bytes they came in: nothing is copied, and a key is never made a string
 * that nobody needs. One object serves all connections, since a command is carried out before the next is read.
 */
export class Words {
  bytes: Buffer = Buffer.alloc(0)
  count = 0
  readonly starts = new Int32Array(MOST_WORDS)
  readonly ends = new Int32Array(MOST_WORDS)

  /** One code unit a byte, so that different bytes are different texts whatever they encode. */
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
