import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import type { Clock, Reservation, SavedReservation } from 'sluice'

export type HeldReservation = Reservation<'sync' | 'async'>

/** Keeps reservations under ids that cannot be guessed. */
export interface Reservations {
  /** Returns the id that settles it; undefined if there is no room. `isEmpty` says that it reserves nothing. */
  keep(reservation: HeldReservation, ttlMs: number, isEmpty: boolean): string | undefined
  /**
   * Ends the reservation with this id, unless `end` throws; undefined if there is none. For a minute a second call with
   * the same id gets the same answer, so that a client that lost the answer may ask again.
   */
  end<T>(id: string, end: (reservation: HeldReservation) => T): T | undefined
}

/** The most reservations to hold. Each takes about a kilobyte. */
const MOST_KEPT = 2 ** 17
/** How many reservations that are empty or ended to keep. Beyond that, the oldest is dropped. */
const MOST_LOOSE = 2 ** 14
const REPLAY_MS = 60_000

interface Kept {
  readonly reservation: HeldReservation
  readonly expiresAt: number
}

/** Keeps reservations in this process, for a store in memory. An expired one was settled at the reserved cost. */
export class HeldReservations implements Reservations {
  private readonly clock: Clock
  private readonly held = new Map<string, Kept>()
  /** Reservations that are empty or ended, so dropping them costs no caller anything: see `MOST_LOOSE`. */
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

  /** Checks the two least recently checked reservations for each one that is added, so that no expired one stays. */
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

/** Keeps nothing: the id is the sealed reservation itself, so that any replica with the secret can settle it. */
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
