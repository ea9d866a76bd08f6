import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { readSettings, SETTINGS, type ServiceSettings } from './settings.ts'

const page = readFileSync(fileURLToPath(new URL('../../../docs/reference/settings.md', import.meta.url)), 'utf8')

describe('docs/reference/settings.md', () => {
  const rows = [...page.matchAll(/^\| `(.+?)` \| `(.+?)` \| (.*?) \| (.+?) \| (.+?) \|$/gm)].map(
    ([, ...cells]) => cells,
  )

  test('has a row for every setting, in the order of the table, and no other', () => {
    expect(rows).toEqual(
      Object.values(SETTINGS).map(({ flag, env, otherwise, expects, meaning }) => [
        `--${flag}`,
        env,
        otherwise === '' ? '' : `\`${otherwise}\``,
        expects,
        meaning,
      ]),
    )
  })

  test('names no variable that does not exist', () => {
    const known = Object.values(SETTINGS).map(({ env }) => env)
    expect([...page.matchAll(/SLUICE_\w+/g)].map(([name]) => name).filter(name => !known.includes(name))).toEqual([])
  })
})

test('no flag and no variable stands for two settings', () => {
  const all = Object.values(SETTINGS)
  expect(new Set(all.map(({ flag }) => flag)).size).toBe(all.length)
  expect(new Set(all.map(({ env }) => env)).size).toBe(all.length)
})

describe('where a setting comes from', () => {
  const { flag, env } = SETTINGS.httpPort

  test.each<[what: string, flags: Record<string, string>, environment: Record<string, string>, port: number]>([
    ['nowhere', {}, {}, 8080],
    ['the environment', {}, { [env]: '81' }, 81],
    ['a flag', { [flag]: '82' }, {}, 82],
    ['a flag, before the environment', { [flag]: '82' }, { [env]: '81' }, 82],
    ['nowhere, where the variable is empty', {}, { [env]: '' }, 8080],
    ['nowhere, where the flag is empty', { [flag]: '' }, {}, 8080],
  ])('%s', (_, flags, environment, port) => {
    expect(readSettings(flags, environment).httpPort).toBe(port)
  })

  test('without flags and environment, every setting has the default of the table', () => {
    const otherwise = Object.entries(SETTINGS).map(([name, one]) => [name, one.otherwise])
    expect(readSettings({}, { PATH: '/bin' })).toEqual(Object.fromEntries(otherwise))
  })
})

test.each<[name: keyof ServiceSettings, text: string, value: string | number]>([
  ['httpPort', '0', 0],
  ['httpPort', '65535', 65_535],
  ['workers', '0', 0],
  ['workers', '256', 256],
  ['drainMs', '600000', 600_000],
  ['adminToken', '!"#$%&\'()*+,-./:;<=>?@[]^_`{|}~', '!"#$%&\'()*+,-./:;<=>?@[]^_`{|}~'],
  ['secret', 'sixteen letters!', 'sixteen letters!'],
  ['counting', 'apart', 'apart'],
  ['shadow', 'on', 'on'],
  ['mergeDomains', 'on', 'on'],
  ['responseHeaders', 'on', 'on'],
  ['resetHeader', 'X-RateLimit-Reset', 'X-RateLimit-Reset'],
  ['store', 'redis://:pass word@host', 'redis://:pass word@host'],
])('%s may be %j', (name, text, value) => {
  expect(readSettings({}, { [SETTINGS[name].env]: text })[name]).toBe(value)
})

test.each<[name: keyof ServiceSettings, text: string]>([
  ['mergeDomains', 'yes'],
  ['responseHeaders', 'yes'],
  ['limitHeader', 'X RateLimit'],
  ['limitHeader', 'X-Limit:'],
  ['limitHeader', 'x'.repeat(65)],
  ['httpPort', '65536'],
  ['httpPort', '-1'],
  ['httpPort', '80.0'],
  ['httpPort', '0x50'],
  ['httpPort', ' 80'],
  ['httpPort', '9'.repeat(400)],
  ['grpcPort', 'http'],
  ['respPort', 'NaN'],
  ['workers', '257'],
  ['workers', '1.5'],
  ['workers', 'auto'],
  ['drainMs', '600001'],
  ['drainMs', '5s'],
  ['counting', 'Together'],
  ['shadow', 'true'],
])('%s may not be %j, and the error shows the value', (name, text) => {
  const { flag, env, expects } = SETTINGS[name]
  expect(() => readSettings({ [flag]: text }, {})).toThrow(
    `--${flag}: expected ${expects}, got '${text}' [SLUICE_BAD_OPTION`,
  )
  expect(() => readSettings({}, { [env]: text })).toThrow(`${env}: expected ${expects}, got '${text}'`)
})

test.each<[name: keyof ServiceSettings, text: string]>([
  ['adminToken', 'two words'],
  ['adminToken', 'Schlüssel'],
  ['checkToken', 'a\nb'],
  ['secret', 'fifteen letters'],
])('%s may not be %j, and the error does not show the value', (name, text) => {
  const { env, expects } = SETTINGS[name]
  expect(() => readSettings({}, { [env]: text })).toThrow(`${env}: expected ${expects}, got something else`)
  expect(() => readSettings({}, { [env]: text })).not.toThrow(text)
})

test.each<[environment: Record<string, string>]>([[{ SLUICE_TLS_CERT: 'a.pem' }], [{ SLUICE_TLS_KEY: 'a.pem' }]])(
  'a certificate without its key, or a key without its certificate, is a mistake: %j',
  environment => {
    expect(() => readSettings({}, environment)).toThrow('--tls-cert and --tls-key: expected both or neither')
  },
)

test('one error names all wrong settings', () => {
  const wrong = () => readSettings({ 'http-port': 'x', workers: 'y' }, { SLUICE_SHADOW: 'z', SLUICE_TLS_KEY: 'k' })
  for (const part of ['--http-port', '--workers', 'SLUICE_SHADOW', '--tls-cert']) expect(wrong).toThrow(part)
})

test('an unknown SLUICE_ variable is refused, and the error names the nearest setting', () => {
  expect(() => readSettings({}, { SLUICE_HTP_PORT: '81' })).toThrow(
    /SLUICE_HTP_PORT: expected a setting.*write SLUICE_HTTP_PORT/,
  )
  expect(() => readSettings({}, { SLUICE_ANYTHING: '81' })).toThrow(/SLUICE_ANYTHING: expected a setting/)
})

test('variables that Kubernetes sets for a Service of this name are ignored', () => {
  const links = {
    SLUICE_SERVICE_HOST: '10.0.0.1',
    SLUICE_SERVICE_PORT_HTTP: '8080',
    SLUICE_PORT: 'tcp://10.0.0.1:8080',
    SLUICE_PORT_8080_TCP_ADDR: '10.0.0.1',
  }
  expect(readSettings({}, links)).toEqual(readSettings({}, {}))
})
