import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { RulesError, readDescriptorFiles, readRules } from 'sluice/rules'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { loadDescriptors, loadRules } from './load.ts'
import { type Problem, RulesFileError } from './problems.ts'

const RUNS = { numRuns: 200 }
const folder = fileURLToPath(new URL('../fixtures/rules/', import.meta.url))
const samples = ['valid', 'mistakes', 'envoy'].flatMap(kind =>
  readdirSync(folder + kind)
    .filter(name => name.endsWith('.yaml'))
    .map(name => readFileSync(`${folder}${kind}/${name}`, 'utf8')),
)

/** Loads, or says what is wrong where: anything else is thrown on. */
function loadsOrTells(text: string): void {
  const lines = text.split('\n').length
  for (const load of [loadRules, loadDescriptors]) {
    try {
      load([{ name: 'fuzz.yaml', text }])
    } catch (error) {
      if (!(error instanceof RulesFileError)) throw error
      const isClear = ({ line, column, message }: Problem) =>
        line <= lines && column > 0 && message.includes('expected ')
      expect(error.problems.length).toBeGreaterThan(0)
      expect(error.problems.filter(problem => !isClear(problem))).toEqual([])
    }
  }
}

/** Words that mean something to the readers, so that values get past the first check. */
const words = [
  ...[
    'limits',
    'store',
    'key',
    'when',
    'cost',
    'mode',
    'plans',
    'by',
    'gcra',
    'rate',
    'burst',
    'sliding-window',
    '60/1m',
  ],
  ...['limit', 'window', '1m', 'fixed-window', 'align', 'day', 'time_zone', 'UTC', 'block_for', 'first', 'replaces'],
  ...['domain', 'descriptors', 'value', 'rate_limit', 'rate_limits', 'unit', 'minute', 'requests_per_unit', 'name'],
  ...['unlimited', 'period', 'algorithm', 'on_outage', 'share_threshold', '*', '__proto__', 'constructor', ''],
]
const word = fc.oneof(fc.constantFrom(...words), fc.string())
const value = fc.letrec(tie => ({
  any: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    word,
    fc.double(),
    fc.integer(),
    fc.boolean(),
    fc.constantFrom(null, undefined),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(word, tie('any'), { maxKeys: 5 }),
  ),
})).any

describe('the loader gives rules or a list of mistakes for', { timeout: 60_000 }, () => {
  test('any text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 100 }), loadsOrTells), RUNS)
  })

  test('any text of the characters that YAML is made of', () => {
    const unit = fc.constantFrom(...'abk01 \n\n\t:-[]{}*&!|>"\'#,?%@<.~'.split(''))
    fc.assert(fc.property(fc.string({ unit, maxLength: 60 }), loadsOrTells), RUNS)
  })

  test('a rules file with some of its characters changed', () => {
    const change = fc.tuple(fc.nat(), fc.string({ unit: 'binary', maxLength: 3 }), fc.nat(5))
    const property = fc.property(fc.constantFrom(...samples), fc.array(change, { maxLength: 4 }), (sample, changes) => {
      let text = sample
      for (const [at, put, cut] of changes) {
        const place = at % (text.length + 1)
        text = text.slice(0, place) + put + text.slice(place + cut)
      }
      loadsOrTells(text)
    })
    fc.assert(property, RUNS)
  })

  test('any value, as YAML', () => {
    const text = value.map(one => stringify(one) ?? '')
    fc.assert(fc.property(text, loadsOrTells), RUNS)
  })

  test('any value, parsed', () => {
    const property = fc.property(value, one => {
      for (const read of [() => readRules(one), () => readDescriptorFiles([one])]) {
        try {
          read()
        } catch (error) {
          if (!(error instanceof RulesError)) throw error
          expect(error.mistakes.length).toBeGreaterThan(0)
        }
      }
    })
    fc.assert(property, RUNS)
  })
})
