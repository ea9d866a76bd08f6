import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { ERROR_CODES, expected, SluiceError } from './errors.ts'
import { WARNING_CODES } from './warning.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const page = readFileSync(`${root}docs/reference/errors.md`, 'utf8')
const sections = page.split(/^## /m).slice(1)
const codes: readonly string[] = [...ERROR_CODES, ...WARNING_CODES]
const documented = sections.map(section => section.slice(0, section.indexOf('\n')))

describe('the table and docs/reference/errors.md', () => {
  test('every code has a heading', () => {
    expect(codes.filter(code => !documented.includes(code))).toEqual([])
  })

  test('every heading is a code', () => {
    expect(documented.filter(heading => !codes.includes(heading))).toEqual([])
  })

  test('they stand in the same order, each once', () => {
    expect(documented).toEqual(codes)
  })

  test.each(sections.map(section => [section.slice(0, section.indexOf('\n')), section]))(
    '%s is explained',
    (_, section) => {
      expect(section.split('\n').slice(1).join(' ').trim().length).toBeGreaterThan(80)
    },
  )
})

test('every code is thrown somewhere', () => {
  const throwers = readdirSync(`${root}packages`)
    .map(name => `${root}packages/${name}/src`)
    .filter(dir => existsSync(dir))
    .flatMap(dir => readdirSync(dir, { recursive: true, encoding: 'utf8' }).map(file => `${dir}/${file}`))
    .filter(path => path.endsWith('.ts') && !path.endsWith('.test.ts') && !/\/(errors|warning)\.ts$/.test(path))
    .map(path => readFileSync(path, 'utf8'))
  const thrown = (code: string) => throwers.some(source => new RegExp(`['"\`]${code}['"\`]`).test(source))
  expect(codes.filter(code => !thrown(code))).toEqual([])
})

describe.each(ERROR_CODES)('%s', code => {
  test('is in its message, with where to read more', () => {
    for (const error of [new SluiceError(code, 'no'), expected(code, 'a limit', NaN)]) {
      expect(error).toMatchObject({ name: 'SluiceError', code })
      expect(error.message).toContain(code)
      expect(error.message).toContain(`node_modules/sluice/errors.md#${code.toLowerCase()}`)
    }
  })
})

test.each([
  ['ten', "got 'ten'"],
  ['x'.repeat(100), `got '${'x'.repeat(77)}…'`],
  [NaN, 'got NaN'],
  [null, 'got null'],
  [undefined, 'got undefined'],
  [1n, 'got 1n'],
  [Symbol('s'), 'got Symbol(s)'],
  [() => 1, 'got a function'],
  [[1, 2], 'got an array of 2'],
  [{}, 'got an object with no properties'],
  [{ a: 1, b: 2 }, 'got an object with a, b'],
])('a complaint shows what came: %s', (value, shown) => {
  expect(expected('SLUICE_BAD_OPTION', 'a thing', value).message).toContain(`expected a thing, ${shown} [`)
})

test('advice follows what came', () => {
  expect(expected('SLUICE_BAD_COST', 'a cost', -1, 'use 0 to look').message).toMatch(
    /^expected a cost, got -1; use 0 to look \[/,
  )
})
