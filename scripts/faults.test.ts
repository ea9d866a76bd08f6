import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FAULTS } from './faults/all.ts'
import { planted, SOURCES } from './faults/copies.ts'
import { type Fault, LAWS, PARTS } from './faults/fault.ts'

const fault = (find: string): Fault => ({ ...FAULTS[0]!, find, replace: 'x' })

// Every fault must still fit the library, because `npm test` runs the whole proof only at its end.
test.each(FAULTS)('$part: $says: fits $file', one => {
  const source = readFileSync(join(SOURCES, one.file), 'utf8')
  expect(planted(source, one)).not.toBe(source)
})

test('no two faults are the same', () => {
  const plants = FAULTS.map(({ file, find, replace }) => [file, find, replace].join('\0'))
  expect(plants).toHaveLength(new Set(plants).size)
  expect(FAULTS.filter(({ file }) => file.startsWith('testing/'))).toEqual([])
})

test('every law has a fault', () => {
  expect(LAWS.filter(law => !FAULTS.some(one => one.law.includes(law)))).toEqual([])
})

test('every part has a fault', () => {
  expect(Object.keys(PARTS).filter(part => !FAULTS.some(one => one.part === part))).toEqual([])
})

test('a fault that stands nowhere, or twice, is stale', () => {
  expect(planted('a b c', fault('b'))).toBe('a x c')
  expect(() => planted('a b c', fault('d'))).toThrow('holds 0 times d')
  expect(() => planted('a b b', fault('b'))).toThrow('holds 2 times b')
})
