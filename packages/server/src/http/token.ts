import { createHash, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'

/** A secret that callers must bring. How long comparing takes tells nothing about it, nor about its length. */
export class Token {
  private readonly digest: Buffer

  constructor(secret: string) {
    this.digest = digestOf(secret)
  }

  /** The value of an Authorization header: `Bearer …`. */
  opens(authorization: string | undefined): boolean {
    const given = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
    return given !== undefined && timingSafeEqual(digestOf(given), this.digest)
  }
}

function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/** A peer on this machine; a unix socket has no address. */
export function isLoopback(address: string | undefined): boolean {
  const plain = address?.replace(/^::ffff:/i, '') ?? ''
  if (isIP(plain) === 4) return plain.startsWith('127.')
  return plain === '::1'
}
