import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import fc from 'fast-check'
import { RulesError, readRules } from 'sluice/rules'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'

const folder = fileURLToPath(new URL('../fixtures/rules/', import.meta.url))
const schema = JSON.parse(readFileSync(fileURLToPath(new URL('../../rules.schema.json', import.meta.url)), 'utf8'))
const validate = new Ajv({ allErrors: true, allowUnionTypes: true, strict: true, strictRequired: false }).compile(
  schema,
)

const files = (kind: string) => readdirSync(folder + kind).filter(name => name.endsWith('.yaml'))
const read = (path: string): unknown => parse(readFileSync(folder + path, 'utf8'), { merge: true })

/** Mistakes in what a file means, or in its YAML: not in its shape. */
const NOT_OF_SHAPE = [
  ...['replaces-nothing', 'replaces-itself', 'plans-of-two-kinds', 'bad-block', 'bad-time-zone', 'bad-proxy-range'],
  ...['local-rate-of-slots', 'bad-deny-range'],
  ...['repeated-name', 'bad-indentation', 'unclosed', 'two-documents', 'unknown-alias', 'unknown-tag'],
].map(name => `${name}.yaml`)

const mistakes = files('mistakes').filter(name => !name.startsWith('envoy-'))

test.each(files('valid'))('%s is valid', name => {
  validate(read(`valid/${name}`))
  expect(validate.errors).toBeNull()
})

test.each(mistakes.filter(name => !NOT_OF_SHAPE.includes(name)))('%s is invalid', name => {
  expect(validate(read(`mistakes/${name}`))).toBe(false)
})

test('every mistake that a schema cannot find is a file of the folder', () => {
  expect(NOT_OF_SHAPE.filter(name => !mistakes.includes(name))).toEqual([])
})

/** Does the loader take it? */
function isRead(file: unknown): boolean {
  try {
    readRules(file)
    return true
  } catch (error) {
    if (error instanceof RulesError) return false
    throw error
  }
}

describe('on limits of any members', { timeout: 60_000 }, () => {
  const scalar = fc.constantFrom<unknown>(
    7,
    0,
    -1,
    1.5,
    true,
    null,
    '',
    'x',
    '60/1m',
    '0/s',
    '10/s',
    '1m',
    '60',
    60,
    [],
    {},
  )
  const amount = fc.constantFrom<unknown>(0, 1, 60, -1, 1.5, '60', null)
  const duration = fc.constantFrom<unknown>('1m', '250ms', '1.5s', 60, 'soon', null)
  const rate = fc.constantFrom<unknown>('10/s', '60/1m', '0/s', '1.5/s', 'x', 10)
  const some = (members: Record<string, fc.Arbitrary<unknown>>) => fc.record(members, { requiredKeys: [] })
  const policies: Record<string, fc.Arbitrary<unknown>> = {
    'sliding-window': fc.oneof(rate, some({ limit: amount, window: duration, buckets: fc.constantFrom(1, 6, 0, 257) })),
    'token-bucket': some({ capacity: amount, refill: rate, more: scalar }),
    'leaky-bucket': some({ capacity: amount, leak: rate }),
    gcra: some({ rate, burst: amount }),
    'fixed-window': some({ limit: amount, window: duration, align: fc.constantFrom('epoch', 'day', 'year') }),
    'sliding-log': fc.oneof(rate, some({ limit: amount, window: duration })),
    concurrency: some({ limit: amount, ttl: duration }),
  }
  const policy = fc.constantFrom(...Object.keys(policies)).chain(name => policies[name]!.map(one => ({ [name]: one })))
  const plans = fc.record({ by: fc.constantFrom('plan', '', 7), free: fc.oneof(rate, policy) }, { requiredKeys: [] })
  const aside = some({
    key: fc.oneof(scalar, fc.constantFrom(['a', 'b'], ['a', 'a'], ['a', 7])),
    when: fc.oneof(scalar, fc.constantFrom({ a: 'x' }, { a: ['x', 7] }, { a: [] }, { '': 'x' })),
    cost: scalar,
    mode: fc.constantFrom('enforce', 'shadow', 'off', 'on', false),
    on_outage: fc.oneof(
      fc.constantFrom<unknown>('local', 'open', 'closed', 'half', null, {}, { open: 1 }),
      // Numbers beside what is under way are another mistake, and not one of shape.
      some({ local: fc.constantFrom<unknown>(0.5, 1, 0, 1.5, '0/s', { gcra: { rate: '1/s' } }, null), more: scalar }),
    ),
    quiet: fc.constantFrom(true, false, 'yes'),
    block_for: fc.oneof(duration, some({ first: duration, factor: fc.constantFrom(1, 2, 0) })),
    other: scalar,
  })
  const limit = fc
    .tuple(
      fc.oneof(
        policy,
        plans.map(one => ({ plans: one })),
      ),
      aside,
    )
    .map(parts => Object.assign({}, ...parts))

  test('the schema is never stricter than the loader, and misses only mistakes in the numbers', () => {
    const property = fc.property(limit, one => {
      const file = { limits: { one } }
      if (isRead(file)) {
        validate(file)
        expect(validate.errors).toBeNull()
      } else expect(validate(file)).toBe(false)
    })
    fc.assert(property, { numRuns: 600 })
  })
})
