import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { brand } from './brand.ts'

const src = fileURLToPath(new URL('.', import.meta.url))
const IS_SOURCE = /(?<!\.test|\.generated)\.ts$/

/** Made and asked by one store or one guard, and never seen outside it. */
const INTERNAL = ['Holder', 'UserFunction', 'MissingKey']

test('every class of the library that something is tested for is known across builds', () => {
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter(path => IS_SOURCE.test(path) && !path.includes('fixtures/'))
    .map(path => readFileSync(src + path, 'utf8'))
  const named = (pattern: RegExp) =>
    new Set(files.flatMap(text => [...text.matchAll(pattern)].map(([, name]) => name!)))
  const own = named(/^(?:export )?(?:abstract )?class (\w+)/gm)
  const errors = named(/^export class (\w+) extends Error\b/gm)
  const branded = named(/^brand\('\w+', (\w+)\)$/gm)
  const tested = [...named(/instanceof (?:\w+\.)?(\w+)/g)].filter(name => own.has(name))
  expect(tested.length).toBeGreaterThan(4)
  // Users test for those.
  expect([...errors].filter(name => !branded.has(name))).toEqual([])
  expect(tested.filter(name => !branded.has(name) && !INTERNAL.includes(name))).toEqual([])
})

/** As each of the two builds declares it. */
function made() {
  class Thing {
    readonly own = 1
  }
  brand('TestThing', Thing)
  return Thing
}

test('what one build makes is an instance for the other', () => {
  const [A, B] = [made(), made()]
  expect([new A() instanceof A, new A() instanceof B, new B() instanceof A]).toEqual([true, true, true])
})

test('the mark shows in nothing that prints or copies', () => {
  const A = made()
  expect(JSON.stringify(new A())).toBe('{"own":1}')
  expect(Object.getOwnPropertySymbols(new A())).toEqual([])
  expect({ ...new A() } instanceof A).toBe(false)
})

test('a class derived from it keeps the usual meaning', () => {
  const [A, B] = [made(), made()]
  class Own extends A {}
  expect([new Own() instanceof Own, new Own() instanceof B]).toEqual([true, true])
  expect([new A() instanceof Own, new B() instanceof Own]).toEqual([false, false])
})

test.each([undefined, null, 0, 'text', {}, [], () => {}])('%o is none', value => {
  expect(value instanceof made()).toBe(false)
})
