import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { rls, rulesLimiter, rulesOf } from 'sluice/rules'
import { expect, test } from 'vitest'
import { loadDescriptors, loadRules } from './load.ts'
import { readSources } from './source-files.ts'

const folder = fileURLToPath(new URL('../fixtures/rules/', import.meta.url))

test.each(readdirSync(`${folder}valid`))('%s loads, and limits', name => {
  const { parsed, rules } = loadRules(readSources(`${folder}valid/${name}`))
  expect(rulesLimiter(parsed, { ownLists: true }).rules).toMatchObject({ name: rules.name })
})

test('the example of the design decides as it says', () => {
  const { parsed } = loadRules(readSources(`${folder}valid/design.yaml`))
  const { limiter } = rulesLimiter(parsed, { ownLists: true })
  const { limits } = limiter.consume({ ip: '203.0.113.7', user: '42', route: '/search' })
  expect(limits.map(({ name, limit, remaining, shadow }) => [name, limit, remaining, shadow])).toEqual([
    ['per-ip', 60, 59, false],
    ['per-user', 100, 99, false],
    ['search', 10, 9, true],
  ])
})

test('values are read as they are spelt, whatever type YAML gives them', () => {
  const { rules } = loadRules(readSources(`${folder}valid/everything.yaml`))
  const { when } = rules.limits.find(({ name }) => name === 'exports')!
  expect(when.map(({ attribute, values }) => [attribute, ...values])).toEqual([
    ['route', '/export', '/reports/*'],
    ['version', '1.0'],
    ['beta', 'true'],
  ])
})

test('anchors and merge keys save repetition', () => {
  const { rules } = loadRules(readSources(`${folder}valid/anchors.yaml`))
  expect(rules.limits.map(({ name, key, when }) => [name, key, when[0]!.values])).toEqual([
    ['search', ['user'], ['/search']],
    ['find', ['user'], ['/find']],
  ])
})

test('files for envoyproxy/ratelimit load as they are, a folder of them together', () => {
  const { parsed, domains } = loadDescriptors(readSources(`${folder}envoy`))
  expect([...domains].map(([domain, level]) => [domain, [...rulesOf(level)].map(({ name }) => name).sort()])).toEqual([
    [
      'edge',
      [
        'edge.generic_key_default',
        'edge.internal_yes',
        'edge.message_type_marketing',
        'edge.message_type_marketing.to_number',
        'edge.partner_gold',
        'edge.path_/files/*',
        'edge.remote_address',
        'edge.version_1.0',
      ],
    ],
    ['shop', ['shop.model', 'shop.user']],
  ])
  const request = { domain: 'edge', descriptors: [{ entries: [{ key: 'version', value: '1.0' }] }] }
  expect(rls(parsed).shouldRateLimit(request)).toMatchObject({ statuses: [{ limitRemaining: 9 }] })
})

test('errors in several files are each reported with their file', () => {
  const sources = [
    { name: 'a.yaml', text: 'domain: a\ndescriptors: [{}]' },
    { name: 'b.yaml', text: 'domain: ""\ndescriptors: []' },
  ]
  expect(() => loadDescriptors(sources)).toThrow(/^a\.yaml:2:15: .*\nb\.yaml:1:9: /)
  const broken = sources.map(({ name }) => ({ name, text: '{' }))
  expect(() => loadDescriptors(broken)).toThrow(/^a\.yaml:1:2: .*\nb\.yaml:1:2: /)
})

test('our own rules are one file', () => {
  const text = readFileSync(`${folder}valid/design.yaml`, 'utf8')
  const two = ['a.yaml', 'b.yaml'].map(name => ({ name, text }))
  expect(() => loadRules(two)).toThrow('b.yaml: expected one rules file, got 2')
  expect(() => loadRules([])).toThrow('rules: expected one rules file, got 0')
})

test('a file that unfolds to fill the memory is refused', () => {
  const levels = Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(10).fill(`*a${i}`)}]`)
  const text = ['a0: &a0 [x]', ...levels, 'limits: *a9'].join('\n')
  expect(() => loadRules([{ name: 'bomb.yaml', text }])).toThrow(/^bomb\.yaml:1:1: expected YAML that can be unfolded/)
})

test('a file nested too deep is refused', () => {
  expect(() => loadRules([{ name: 'deep.yaml', text: '['.repeat(10_000) }])).toThrow(/^deep\.yaml/)
})

test.each(['limits: &a { one: *a }', 'limits: &a [*a]', '&a { limits: { <<: *a } }', 'limits: { one: &a { <<: *a } }'])(
  'a file that holds itself is refused: %s',
  text => {
    expect(() => loadRules([{ name: 'self.yaml', text }])).toThrow(/^self\.yaml:1:/)
  },
)
