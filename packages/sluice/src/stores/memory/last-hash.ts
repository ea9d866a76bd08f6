import { KeyHash } from '../../hash.ts'

/**
 * Another hash that remembers the text it was last asked for: who asks a server once often asks again at once. Only for
 * lanes behind a guard: where every request is another's, to compare the texts is all it does.
 */
export class LastHash extends KeyHash {
  private readonly hash: KeyHash
  private last: string | undefined = undefined

  constructor(hash: KeyHash) {
    super(0, 0)
    this.hash = hash
  }

  override of(text: string): number {
    if (text !== this.last) {
      this.lo = this.hash.of(text)
      this.hi = this.hash.hi
      this.last = text
    }
    return this.lo
  }
}
