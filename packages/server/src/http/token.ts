import { createHash, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'

/** A secret that callers must send. The time of the comparison reveals neither the secret nor its length. */
export class Token {
  private readonly digest: Buffer

  constructor(secret: string) {
    this.digest = digestOf(secret)
  }

  /** Takes the value of an Authorization header: `Bearer …`. */
  opens(authorization: string | undefined): boolean {
    const given = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
    return given !== undefined && timingSafeEqual(digestOf(given), this.digest)
  }
}

function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/** Whether the peer is on this machine. A unix socket has no address. */
export function isLoopback(address: string | undefined): boolean {
  const plain = address?.replace(/^::ffff:/i, '') ?? ''
  if (isIP(plain) === 4) return plain.startsWith('127.')
  return plain === '::1'
}
