import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dictionaryOf, fieldsOf, listOf } from '../../../fixtures/headers/read-back.ts'
import { random, randomPolicy } from '../../../testing/trace.ts'
import { describe, exposedNames, type HeaderFamily, retryAfterSeconds, type Shown, writeFields } from '../headers.ts'

const count = fc.oneof(fc.nat(), fc.double({ min: 0 }), fc.constantFrom(0, 1, 2 ** 53, 1e21, Infinity, NaN, -1))
const wait = fc.oneof(fc.double({ min: 0, max: 1e12, noNaN: true }), fc.constantFrom(0, 0.001, 1000, 1e300, Infinity))
const state = fc.record<Shown>({
  allowed: fc.boolean(),
  limit: count,
  remaining: count,
  resetAt: fc.oneof(wait, fc.constant(NaN)),
  resetAfterMs: wait,
  retryAfterMs: wait,
})
const anyLimit = fc.record({
  name: fc.oneof(fc.string(), fc.string({ unit: 'binary' })),
  policy: fc.integer().map(seed => randomPolicy(random(seed))),
  state,
  partition: fc.oneof(fc.base64String(), fc.string()),
})

/** What every family writes of some limits in some states, read back by name. */
function fieldsFrom(families: readonly HeaderFamily[]) {
  const limits = fc.array(anyLimit, { minLength: 1, maxLength: 4 })
  return fc
    .tuple(limits, fc.nat({ max: 3 }), fc.double({ min: 0, max: 5e12, noNaN: true }))
    .map(([limits, last, at]) => {
      const out: string[] = []
      const descriptions = limits.map(({ name, policy }) => describe(name, policy, { bucket: name }))
      const states = limits.map(({ state }) => state)
      const binding = last % limits.length
      const partitions = limits.map(({ partition }) => partition)
      writeFields(families, descriptions, states, binding, at, out, partitions)
      return { fields: fieldsOf(out), states, bound: states[binding]! }
    })
}

const isTold = ({ remaining }: Shown) => remaining !== Infinity
const isWhole = (value: unknown) => Number.isInteger(value) && Number(value) >= 0 && Number(value) < 1e15
const seconds = ({ retryAfterMs }: Shown) => retryAfterSeconds(retryAfterMs)

test('draft 11 tells of every limit, in whole numbers, and on a refusal t is Retry-After', () => {
  fc.assert(
    fc.property(fieldsFrom(['draft-11']), ({ fields, states }) => {
      const told = states.filter(isTold)
      const limits = listOf(fields.RateLimit)
      const policies = listOf(fields['RateLimit-Policy'])
      expect(limits.length).toBe(told.length)
      expect(policies.map(([name]) => name)).toEqual(limits.map(([name]) => name))
      expect(policies.map(([, { pk }]) => pk)).toEqual(limits.map(([, { pk }]) => pk))
      for (const [, { q, w }] of policies) expect(isWhole(q) && (w === undefined || (isWhole(w) && w !== 0))).toBe(true)
      for (const [i, [, { r, t }]] of limits.entries()) {
        expect(isWhole(r) && (t === undefined || isWhole(t))).toBe(true)
        if (!told[i]!.allowed) expect(t).toBe(seconds(told[i]!))
      }
    }),
  )
})

test('the families with room for one limit tell of the binding one, in whole numbers, and agree', () => {
  fc.assert(
    fc.property(fieldsFrom(['draft-7', 'draft-6', 'x']), ({ fields, bound }) => {
      if (!isTold(bound)) {
        expect(fields).toEqual({})
        return
      }
      const { limit, remaining, reset } = dictionaryOf(fields.RateLimit)
      const apart = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'].map(name => fields[name])
      expect([limit, remaining, reset].map(value => value?.toString())).toEqual(apart)
      expect([fields['X-RateLimit-Limit'], fields['X-RateLimit-Remaining']]).toEqual(apart.slice(0, 2))
      for (const value of [limit, remaining, reset ?? 0, Number(fields['X-RateLimit-Reset'] ?? 0)]) {
        expect(isWhole(value)).toBe(true)
      }
      expect(remaining).toBe(Math.min(Math.floor(bound.remaining > 0 ? bound.remaining : 0), 999_999_999_999_999))
      if (!bound.allowed) expect(reset).toBe(seconds(bound))
    }),
  )
})

test('every field is printable and among those exposed', () => {
  const together = fc.constantFrom<HeaderFamily[]>(['draft-11', 'draft-6', 'x-bucket'], ['draft-7', 'draft-6', 'x'])
  const written = together.chain(families => fieldsFrom(families).map(({ fields }) => ({ families, fields })))
  fc.assert(
    fc.property(written, ({ families, fields }) => {
      for (const [name, value] of Object.entries(fields)) {
        expect(exposedNames(families).split(', ')).toContain(name)
        expect(value).toMatch(/^[ -~]+$/)
      }
    }),
  )
})
