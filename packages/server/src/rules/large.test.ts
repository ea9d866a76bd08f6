import { readRules } from 'sluice/rules'
import { describe, expect, test } from 'vitest'
import { ruleWarnings } from './warnings.ts'
import { parseYaml } from './yaml-file.ts'

const COUNT = 100_000
const NAMES = Array.from({ length: COUNT }, (_, i) => `limit-${i}`)
const yaml = (text: string) => parseYaml({ name: 'rules.yaml', text }, () => false)

// Work that grows with the square of the file takes minutes here and runs into the timeout.
describe(`of ${COUNT} names`, { timeout: 60_000 }, () => {
  test('each is read and found again', () => {
    const { value, positionOf } = yaml(NAMES.map(name => `${name}: 1\n`).join(''))
    expect(Object.keys(value as object)).toEqual(NAMES)
    expect(NAMES.map(name => positionOf([name], true).line)).toEqual(NAMES.map((_, i) => i + 1))
  })

  test('a repeated name is reported', () => {
    expect(() => yaml(`${NAMES.map(name => `${name}: 1\n`).join('')}limit-7: 2\n`)).toThrow(
      `rules.yaml:${COUNT + 1}:1: expected each name once, got limit-7 again`,
    )
  })

  test('each may be an alias, and an alias without an anchor is reported', () => {
    const aliases = NAMES.map(name => `${name}: *one\n`).join('')
    expect(() => yaml(`one: &one 1\n${aliases}last: *two\n`)).toThrow(
      `rules.yaml:${COUNT + 2}:7: expected an alias of an anchor above it, got *two`,
    )
  })

  test('each limit that is only a fixed window has a warning', () => {
    const lone = { key: ['user', 'route'], 'fixed-window': '5/1m' }
    const { limits, ...rest } = readRules({ limits: { lone } })
    const many = { ...rest, limits: NAMES.map(name => ({ ...limits[0]!, name })) }
    expect(ruleWarnings(many).map(({ limit }) => limit)).toEqual(NAMES)
  })
})
