import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { run } from '../fixtures/command/run.ts'
import { rulesFile } from '../fixtures/rules-file.ts'

const rules = fileURLToPath(new URL('../fixtures/rules/', import.meta.url))
const sample = fileURLToPath(new URL('../../sample.yaml', import.meta.url))

describe('rules that can be used', () => {
  const own = 'limits: { a: { key: user, sliding-log: 9/1h }, b: { key: user, gcra: { rate: 1/s, burst: 2 } } }'
  const envoy = (domain: string) =>
    `domain: ${domain}\ndescriptors: [{ key: user, rate_limit: { unit: hour, requests_per_unit: 1 } }]`

  test.each<[what: string, text: string, limits: string]>([
    ['our own', own, '2 limits'],
    ['our own as JSON', '{"limits":{"a":{"key":"user","sliding-log":"9/1h"}}}', '1 limit'],
    ['those of envoyproxy/ratelimit', envoy('edge'), '1 limit'],
    ['those as JSON', '{\n  "domain": "edge",\n  "descriptors": [{ "key": "user" }]\n}', '0 limits'],
  ])('%s end with 0 and say how many limits there are', async (_, text, limits) => {
    const path = rulesFile(text)
    const { code, out } = await run('check', path)
    expect([code, out]).toEqual([0, `${path}: ${limits}, ready to serve\n`])
  })

  test('a folder of files for envoyproxy/ratelimit is checked as a whole', async () => {
    const folder = dirname(rulesFile(envoy('edge')))
    writeFileSync(`${folder}/other.yaml`, envoy('other'))
    expect((await run('check', folder)).out).toBe(`${folder}: 2 limits, ready to serve\n`)
    writeFileSync(`${folder}/other.yaml`, envoy('edge'))
    expect((await run('check', folder)).err).toContain(`${folder}/rules.yaml:1:9: `)
  })

  test('the sample has no error and no warning', async () => {
    expect(await run('check', sample)).toEqual({ code: 0, out: `${sample}: 3 limits, ready to serve\n`, err: '' })
  })
})

describe('warnings', () => {
  const file = (text: string) => rulesFile(`limits: { ${text} }`)

  test.each<[code: string, path: () => string, flags: string[]]>([
    ['address-only-key', () => file('per-ip: { key: ip, sliding-window: 99/1m }'), []],
    ['small-sliding-window', () => file('few: { key: user, sliding-window: 9/1m }'), []],
    ['lone-fixed-window', () => file('daily: { key: user, fixed-window: 9/1d }'), []],
    ['login-and-health', () => file('all: { key: user, when: { route: "/*" }, sliding-window: 99/1m }'), []],
    ['memory-with-replicas', () => sample, ['--replicas', '3']],
  ])('%s is printed and does not fail the check', async (code, path, flags) => {
    const at = path()
    const { code: exit, out, err } = await run('check', at, ...flags)
    expect(exit).toBe(0)
    expect(out).toContain('ready to serve')
    expect(err.trimEnd()).toMatch(new RegExp(`^${at}: warning: .+ \\[${code}\\]$`))
  })

  test('do not mention replicas if they share a store', async () => {
    expect((await run('check', sample, '--replicas', '3', '--store', 'redis://cache')).err).toBe('')
  })
})

describe('mistakes', () => {
  const named = (kind: RegExp) => readdirSync(`${rules}mistakes`).filter(name => kind.test(name))
  // As our own rules it is a mistake; checked, it is what it is.
  const files = named(/\.yaml$/).filter(name => name !== 'envoy-file.yaml')

  test.each(files)('those of %s are all reported with file, line and column, and the exit code is 1', async name => {
    const { code, out, err } = await run('check', `${rules}mistakes/${name}`)
    const expected = readFileSync(`${rules}mistakes/${name.replace('.yaml', '.txt')}`, 'utf8')
      .trimEnd()
      .split('\n')
    expect([code, out]).toEqual([1, ''])
    expect(err.trimEnd().split('\n')).toEqual(expected.map(line => `${rules}mistakes/${line}`))
    for (const line of err.trimEnd().split('\n'))
      expect(line).toMatch(/\.yaml:\d+:\d+: expected|\.yaml:\d+:\d+: .*: expected/)
  })

  test('a missing file is one', async () => {
    const { code, err } = await run('check', `${rules}none.yaml`)
    expect([code, err]).toEqual([
      1,
      `${rules}none.yaml: expected a file that can be read, got ENOENT [SLUICE_BAD_RULES]\n`,
    ])
  })
})

describe('for machines', () => {
  test('valid rules are reported as JSON on one line', async () => {
    const { code, out, err } = await run('check', sample, '--json', '--replicas', '2')
    expect([code, err, out.split('\n').length]).toEqual([0, '', 2])
    expect(JSON.parse(out)).toEqual({
      ok: true,
      limits: 3,
      problems: [],
      warnings: [{ code: 'memory-with-replicas', message: expect.stringContaining('each of 2 replicas') }],
    })
  })

  test('errors are reported as JSON, too', async () => {
    const file = `${rules}mistakes/several-at-once.yaml`
    const { code, out, err } = await run('check', file, '--json')
    expect([code, err]).toEqual([1, ''])
    const { ok, problems } = JSON.parse(out)
    expect([ok, problems.length]).toEqual([false, 5])
    expect(problems[0]).toEqual({
      ...{ file, line: 4, column: 10, code: 'SLUICE_BAD_OPTION' },
      message: expect.stringContaining('limits.per-ip.key: expected an attribute'),
    })
  })
})
