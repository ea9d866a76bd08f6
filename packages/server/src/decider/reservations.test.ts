import { createLimiter, tokenBucket } from 'sluice'
import { fakeClock } from 'sluice/testing'
import { describe, expect, test } from 'vitest'
import { type HeldReservation, HeldReservations, SealedReservations } from './reservations.ts'

const SECRET = 'a secret of replicas'

function reserving() {
  const clock = fakeClock(1e12)
  const limiter = createLimiter(tokenBucket({ capacity: 1000, refill: '1/h' }), { clock })
  const reserve = (ttl = 1000) => limiter.reserve('alice', { cost: 10, ttl: `${ttl}ms` }) as HeldReservation
  return { clock, limiter, reserve, held: new HeldReservations(clock) }
}

describe('reservations in memory', () => {
  test('an id ends one reservation, and for a minute gets the same answer again', () => {
    const { reserve, held, clock } = reserving()
    const [one, other] = [reserve(), reserve()]
    const [id, second] = [held.keep(one, 1000, false)!, held.keep(other, 1000, false)!]
    const long = held.keep(reserve(), 600_000, false)!
    expect(held.end(id, found => found)).toBe(one)
    expect(held.end(id, found => found)).toBe(one)
    expect(held.end(second, found => found)).toBe(other)
    expect(held.end(long, () => true)).toBe(true)
    clock.advance(1000)
    expect(held.end(id, found => found)).toBeUndefined()
    clock.advance(58_999)
    expect(held.end(long, () => true)).toBe(true)
    clock.advance(1)
    expect(held.end(long, () => true)).toBeUndefined()
  })

  test('an end that throws keeps the reservation', () => {
    const { reserve, held } = reserving()
    const one = reserve()
    const id = held.keep(one, 1000, false)!
    const typo = () => {
      throw new Error('no such limit')
    }
    expect(() => held.end(id, typo)).toThrow('no such limit')
    expect(held.end(id, found => found)).toBe(one)
  })

  test('a reservation expires at its exact time', () => {
    const { reserve, held, clock } = reserving()
    const ids = [held.keep(reserve(), 1000, false)!, held.keep(reserve(), 1000, false)!]
    clock.advance(999)
    expect(held.end(ids[0]!, () => true)).toBe(true)
    clock.advance(1)
    expect(held.end(ids[1]!, () => true)).toBeUndefined()
  })

  test('ids are of 128 bits and never the same', () => {
    const { reserve, held } = reserving()
    const ids = Array.from({ length: 50 }, () => held.keep(reserve(), 1000, false)!)
    expect(new Set(ids).size).toBe(50)
    for (const id of ids) expect(id).toMatch(/^[\w-]{22}$/)
  })

  test('expired reservations are forgotten, and those held for longer are not', () => {
    const { held, reserve, clock } = reserving()
    const one = reserve()
    const long = held.keep(one, 1_000_000, false)!
    for (let i = 0; i < 5000; i++) {
      held.keep(one, 10, false)
      clock.advance(1)
    }
    const { size } = (held as unknown as { held: Map<string, unknown> }).held
    expect(size).toBeLessThan(100)
    expect(held.end(long, found => found)).toBe(one)
  })
})

describe('more reservations than there is room for', () => {
  test('empty reservations take no room from others: the oldest are forgotten', () => {
    const { held, reserve } = reserving()
    const one = reserve()
    const ids = Array.from({ length: 20_000 }, () => held.keep(one, 86_400_000, true)!)
    expect(ids.filter(id => held.end(id, () => true) === true).length).toBe(2 ** 14)
    expect(held.end(ids[0]!, () => true)).toBeUndefined()
    expect(held.end(ids.at(-1)!, () => true)).toBe(true)
  })

  test('a reservation beyond the room is refused, and an end makes room', () => {
    const { held, reserve } = reserving()
    const one = reserve()
    const ids = Array.from({ length: 2 ** 17 }, () => held.keep(one, 86_400_000, false))
    expect(ids.includes(undefined)).toBe(false)
    expect(held.keep(one, 86_400_000, false)).toBeUndefined()
    held.end(ids[0]!, () => true)
    expect(held.keep(one, 86_400_000, false)).toBeDefined()
  })
})

describe('sealed reservations', () => {
  const saved = { cost: 10, charges: [{ limit: 'tokens', key: 'alice@example.com' }] } as never
  const one = { save: () => saved } as unknown as HeldReservation
  const sealing = (secret = SECRET) => new SealedReservations(secret, opened => opened as unknown as HeldReservation)
  const opened = (id: string, secret?: string) => sealing(secret).end(id, found => found)

  test('a process with the secret opens an id as often as asked', () => {
    const id = sealing().keep(one)
    expect(opened(id)).toEqual(saved)
    expect(opened(id)).toEqual(saved)
  })

  test('an id reveals nothing of its reservation, and no two are the same', () => {
    const [id, again] = [sealing().keep(one), sealing().keep(one)]
    expect(id).not.toBe(again)
    expect(Buffer.from(id, 'base64url').toString('latin1')).not.toMatch(/alice|tokens|cost/)
  })

  test('another secret does not open an id', () => {
    expect(opened(sealing().keep(one), `${SECRET} `)).toBeUndefined()
  })

  test('an id with a changed bit, or cut anywhere, is invalid', () => {
    const bytes = Buffer.from(sealing().keep(one), 'base64url')
    for (let i = 0; i < bytes.length; i++) {
      const changed = Buffer.from(bytes)
      changed[i]! ^= 1 << (i % 8)
      expect(opened(changed.toString('base64url'))).toBeUndefined()
      expect(opened(bytes.subarray(0, i).toString('base64url'))).toBeUndefined()
    }
  })

  test.each(['', '!', 'A', 'A'.repeat(37), 'A'.repeat(38), 'A'.repeat(100_000), '\u0000', '👩'])(
    'a text that is not an id is invalid: %j',
    id => {
      expect(opened(id)).toBeUndefined()
    },
  )
})
