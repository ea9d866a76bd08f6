import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import type { Clock, Reservation, SavedReservation } from 'sluice'

export type AnyReservation = Reservation<'sync' | 'async'>

/** Reservations by ids that nobody can guess. */
export interface Reservations {
  keep(reservation: AnyReservation, ttlMs: number): string
  /** Ends the one of this id, unless `end` throws; undefined where there is none, or it was ended before. */
  end<T>(id: string, end: (reservation: AnyReservation) => T): T | undefined
}

/** Kept in this process, for a store that is. One that has expired was settled at what was reserved. */
export class HeldReservations implements Reservations {
  private readonly clock: Clock
  private readonly held = new Map<string, { reservation: AnyReservation; expiresAt: number }>()

  constructor(clock: Clock) {
    this.clock = clock
  }

  keep(reservation: AnyReservation, ttlMs: number): string {
    this.forgetExpired()
    const id = randomBytes(16).toString('base64url')
    this.held.set(id, { reservation, expiresAt: this.clock.now() + ttlMs })
    return id
  }

  end<T>(id: string, end: (reservation: AnyReservation) => T): T | undefined {
    const found = this.held.get(id)
    const ended = found !== undefined && found.expiresAt > this.clock.now() ? end(found.reservation) : undefined
    this.held.delete(id)
    return ended
  }

  /** Looks at the two that were not looked at for longest, for every one that is added: none stays for good. */
  private forgetExpired(): void {
    const now = this.clock.now()
    let looks = 2
    for (const [id, one] of this.held) {
      if (looks-- === 0) break
      this.held.delete(id)
      if (one.expiresAt > now) this.held.set(id, one)
    }
  }
}

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Kept by whoever has the id: it is the reservation itself, sealed, so that any replica with the secret can settle it. */
export class SealedReservations implements Reservations {
  private readonly secret: Buffer
  private readonly resume: (saved: SavedReservation) => AnyReservation

  constructor(secret: string, resume: (saved: SavedReservation) => AnyReservation) {
    this.secret = createHash('sha256').update(`sluice reservations ${secret}`).digest()
    this.resume = resume
  }

  keep(reservation: AnyReservation): string {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.secret, nonce)
    const sealed = Buffer.concat([cipher.update(JSON.stringify(reservation.save()), 'utf8'), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')
  }

  end<T>(id: string, end: (reservation: AnyReservation) => T): T | undefined {
    const saved = this.open(Buffer.from(id, 'base64url'))
    return saved === undefined ? undefined : end(this.resume(saved))
  }

  private open(bytes: Buffer): SavedReservation | undefined {
    if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.secret, bytes.subarray(0, NONCE_BYTES))
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      const text = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
      return JSON.parse(text) as SavedReservation
    } catch {
      return undefined
    }
  }
}
