import { createHash, timingSafeEqual } from 'node:crypto'

/** Compares in a time that tells nothing of the password, not even its length: digests are compared, not texts. */
export class Password {
  private readonly digest: Buffer

  constructor(password: string) {
    this.digest = digestOf(Buffer.from(password))
  }

  matches(offered: Buffer): boolean {
    return timingSafeEqual(this.digest, digestOf(offered))
  }
}

function digestOf(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest()
}
