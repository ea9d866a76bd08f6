import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import type { Clock, Reservation, SavedReservation } from 'sluice'

export type HeldReservation = Reservation<'sync' | 'async'>

/** Reservations by ids that nobody can guess. */
export interface Reservations {
  /** The id it is settled by; undefined where there is no room to keep it. `isEmpty` says that it holds nothing. */
  keep(reservation: HeldReservation, ttlMs: number, isEmpty: boolean): string | undefined
  /**
   * Ends the one of this id, unless `end` throws; undefined where there is none. For a minute the same id ends it again,
   * which answers the same: a client that lost the answer may ask once more.
   */
  end<T>(id: string, end: (reservation: HeldReservation) => T): T | undefined
}

/** About a kilobyte each. */
const MOST_KEPT = 2 ** 17
/** Of those that hold nothing or were ended: beyond so many, the oldest is forgotten. */
const MOST_LOOSE = 2 ** 14
const REPLAY_MS = 60_000

interface Kept {
  readonly reservation: HeldReservation
  readonly expiresAt: number
}

/** Kept in this process, for a store that is. One that has expired was settled at what was reserved. */
export class HeldReservations implements Reservations {
  private readonly clock: Clock
  private readonly held = new Map<string, Kept>()
  /** What may be forgotten without a loss to anybody else: see `MOST_LOOSE`. */
  private readonly loose = new Map<string, Kept>()

  constructor(clock: Clock) {
    this.clock = clock
  }

  keep(reservation: HeldReservation, ttlMs: number, isEmpty: boolean): string | undefined {
    this.forgetExpired()
    if (!isEmpty && this.held.size >= MOST_KEPT) return undefined
    const id = randomBytes(16).toString('base64url')
    const kept = { reservation, expiresAt: this.clock.now() + ttlMs }
    if (isEmpty) this.loosen(id, kept)
    else this.held.set(id, kept)
    return id
  }

  end<T>(id: string, end: (reservation: HeldReservation) => T): T | undefined {
    const now = this.clock.now()
    const kept = this.held.get(id) ?? this.loose.get(id)
    const isKnown = kept !== undefined && kept.expiresAt > now
    const ended = isKnown ? end(kept.reservation) : undefined
    if (this.held.delete(id) && isKnown) {
      this.loosen(id, { ...kept, expiresAt: Math.min(kept.expiresAt, now + REPLAY_MS) })
    }
    return ended
  }

  private loosen(id: string, kept: Kept): void {
    this.loose.set(id, kept)
    if (this.loose.size <= MOST_LOOSE) return
    const [oldest] = this.loose.keys()
    this.loose.delete(oldest!)
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
  private readonly resume: (saved: SavedReservation) => HeldReservation

  constructor(secret: string, resume: (saved: SavedReservation) => HeldReservation) {
    this.secret = createHash('sha256').update(`sluice reservations ${secret}`).digest()
    this.resume = resume
  }

  keep(reservation: HeldReservation): string {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.secret, nonce)
    const sealed = Buffer.concat([cipher.update(JSON.stringify(reservation.save()), 'utf8'), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')
  }

  end<T>(id: string, end: (reservation: HeldReservation) => T): T | undefined {
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
