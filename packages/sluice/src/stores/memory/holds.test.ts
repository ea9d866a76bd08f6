import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ruleOf } from '../../algorithms/rule.ts'
import { tokenBucket } from '../../policy.ts'
import { type Hold, Holds } from './holds.ts'
import { newBudget } from './table/key-table.ts'

const rule = ruleOf(tokenBucket({ capacity: 10, refill: '1/s' }))
const limit = { space: { path: 'limit', localShare: 0.5 }, block: undefined, atOnce: false }
const KEYS = ['a', 'b', '']

const step = fc.record({
  key: fc.constantFrom(...KEYS),
  what: fc.constantFrom('add', 'add', 'add', 'end', 'forget', 'wait'),
  number: fc.nat(20),
})

describe('reservations of a limit', () => {
  test('are found, summed and expired as in a plain list of them', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), steps => {
        const room = newBudget(1000)
        const ended: Hold[] = []
        const holds = new Holds(room, (_, hold) => ended.push(hold))
        const list = new Map(KEYS.map(key => [key, [] as Hold[]]))
        let now = 0
        for (const { key, what, number } of steps) {
          const of = list.get(key)!
          if (what === 'add') of.push(holds.add(key, limit, rule, 1 + number, now + 1 + number))
          else if (what === 'end' && of.length > 0) holds.end(of.splice(number % of.length, 1)[0]!, 1)
          else if (what === 'forget') {
            holds.forget(key)
            expect(of.splice(0).every(hold => hold.charged === 0)).toBe(true)
          } else if (what === 'wait') now += number
          ended.length = 0
          holds.expireDue(now)
          const due: Hold[] = []
          for (const [one, all] of list) {
            due.push(...all.filter(hold => hold.expiry <= now))
            list.set(
              one,
              all.filter(hold => hold.expiry > now),
            )
          }
          expect(new Set(ended)).toEqual(new Set(due))
          expect(ended.map(({ expiry }) => expiry)).toEqual(due.map(({ expiry }) => expiry).sort((a, b) => a - b))
          for (const [one, all] of list) {
            expect(holds.held(one, now)).toBe(all.reduce((sum, hold) => sum + hold.cost, 0))
            expect(holds.countOf(one)).toBe(all.length)
            const expiries = all.map(({ expiry }) => expiry).sort((a, b) => a - b)
            expect(holds.soonest(one, 5).map(({ expiry }) => expiry)).toEqual(expiries.slice(0, 5))
            expect(holds.lastExpiry(one)).toBeGreaterThanOrEqual(expiries.at(-1) ?? 0)
            if (all.length > 0) expect(holds.nextExpiry(one)).toBe(expiries[0])
          }
          expect(holds.count).toBe([...list.values()].flat().length)
          expect(room.bytes).toBe(holds.bytes)
        }
        for (const key of KEYS) holds.forget(key)
        expect([holds.count, holds.bytes, room.max]).toEqual([0, 0, 1000])
      }),
    )
  })

  test('take room from keys, and none is added where there is no room', () => {
    const room = newBudget(1000)
    const holds = new Holds(room, () => {})
    let count = 0
    while (!holds.isFull(`key ${count % 7}`)) holds.add(`key ${count++ % 7}`, limit, rule, 1, 1000 + count)
    expect(count).toBeGreaterThan(100)
    expect(count).toBeLessThan(1000)
    expect(holds.nextExpiry('unknown')).toBe(1001)
  })

  test('of cost 0 are kept nowhere', () => {
    const room = newBudget(1000)
    const holds = new Holds(room, () => {})
    const hold = holds.add('key', limit, rule, 0, 1000)
    expect([holds.count, holds.bytes, holds.held('key', 0), hold.charged]).toEqual([0, 0, 0, undefined])
  })
})
