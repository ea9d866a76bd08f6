import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dictionaryOf, fieldsOf, listOf } from '../fixtures/headers/read-back.ts'
import { describe, type HeaderFamily, type Shown, writeFields } from '../http/response/headers.ts'
import { random, randomPolicy } from '../testing/trace.ts'
import { readRateLimit } from './index.ts'

const NOW = 1_790_013_600_123
const wait = fc.oneof(fc.nat({ max: 100_000_000 }), fc.constantFrom(0, 1, 999, 1000, 1001, Infinity))
const state = fc
  .record({ allowed: fc.boolean(), limit: fc.nat(), remaining: fc.nat(), resetAfterMs: fc.nat(), retryAfterMs: wait })
  .map((part): Shown => ({ ...part, resetAt: NOW + part.resetAfterMs }))
const limit = fc.record({
  name: fc.oneof(fc.string(), fc.string({ unit: 'binary' })),
  policy: fc.integer().map(seed => randomPolicy(random(seed))),
  state,
  partition: fc.uint8Array({ minLength: 1 }).map(bytes => Buffer.from(bytes).toString('base64')),
})

/** What the guard would write of some limits. */
function written(families: readonly HeaderFamily[]) {
  return fc
    .tuple(fc.array(limit, { minLength: 1, maxLength: 4 }), fc.nat({ max: 3 }), fc.boolean())
    .map(([limits, last, partitioned]) => {
      const out: string[] = []
      const partitions = partitioned ? limits.map(({ partition }) => partition) : undefined
      const descriptions = limits.map(({ name, policy }) => describe(name, policy, { bucket: name.slice(0, 20) }))
      writeFields(
        families,
        descriptions,
        limits.map(one => one.state),
        last % limits.length,
        NOW,
        out,
        partitions,
      )
      return fieldsOf(out)
    })
}

const read = (headers: Record<string, string>) => readRateLimit({ headers }, { now: NOW })
const resetOf = (seconds: unknown) => (seconds === undefined ? undefined : NOW + Number(seconds) * 1000)

test('draft 11: every limit is read back as an independent parser reads it', () => {
  fc.assert(
    fc.property(written(['draft-11']), fields => {
      const policies = listOf(fields['RateLimit-Policy'])
      const expected = listOf(fields.RateLimit).map(([name, { r, t, pk }]) => {
        const [, { q, w, qu }] = policies.find(([other, parameters]) => other === name && parameters.pk === pk)!
        const windowMs = w === undefined ? undefined : Number(w) * 1000
        return { name, limit: q, windowMs, remaining: r, resetAt: resetOf(t), unit: qu, partition: pk }
      })
      const { policies: told } = read(fields)
      expect(told.map(one => ({ ...ABSENT, ...one }))).toEqual(expected)
    }),
  )
})

const ABSENT = { windowMs: undefined, resetAt: undefined, unit: undefined, partition: undefined }

test('draft 7 and draft 6: the binding limit is read back', () => {
  const family = fc.constantFrom<HeaderFamily[]>(['draft-7'], ['draft-6'], ['draft-7', 'draft-6'])
  fc.assert(
    fc.property(family.chain(written), fields => {
      const { limit, remaining, reset } =
        fields.RateLimit === undefined
          ? {
              ...{ limit: Number(fields['RateLimit-Limit']), remaining: Number(fields['RateLimit-Remaining']) },
              reset: fields['RateLimit-Reset'],
            }
          : dictionaryOf(fields.RateLimit)
      // Draft 6 has no room to say what a number counts: from 31 years on it is read as a time of day.
      fc.pre(Number(reset ?? 0) < 1e9)
      const [policy] = listOf(fields['RateLimit-Policy'])
      const told = read(fields)
      expect(told).toMatchObject({ limit, remaining, resetAt: resetOf(reset) })
      const sameSize = policy !== undefined && policy[0] === limit
      expect(told.policies[0]!.windowMs).toBe(sameSize ? Number(policy[1].w) * 1000 : undefined)
    }),
  )
})

test('the X- families: counts, reset and bucket are read back', () => {
  fc.assert(
    fc.property(
      fc.constantFrom<HeaderFamily>('x', 'x-bucket').chain(family => written([family])),
      fields => {
        const told = read(fields)
        const reset = fields['X-RateLimit-Reset']
        const after = fields['X-RateLimit-Reset-After']
        expect(told.limit).toBe(Number(fields['X-RateLimit-Limit']))
        expect(told.remaining).toBe(Number(fields['X-RateLimit-Remaining']))
        const expected = after !== undefined ? resetOf(after) : reset === undefined ? undefined : Number(reset) * 1000
        if (expected === undefined) expect(told.resetAt).toBeUndefined()
        else expect(told.resetAt).toBeCloseTo(expected, 3)
        expect(told.bucket).toBe(fields['X-RateLimit-Bucket'])
      },
    ),
  )
})
