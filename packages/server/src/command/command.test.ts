import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { run } from '../fixtures/command/run.ts'
import { SETTINGS } from '../settings.ts'

describe('help', () => {
  test.each(['', '--help', '-h', 'help', 'serve --help', 'help serve', '--help nonsense'])(
    'sluice %s prints all commands and settings',
    async line => {
      const { code, out, err } = await run(...line.split(' ').filter(Boolean))
      expect([code, err]).toEqual([0, ''])
      for (const command of ['sluice serve', 'sluice check', 'sluice explain']) expect(out).toContain(command)
      const told = [...out.matchAll(/^ {2}--([\w-]+) +(\w+) +(.+)$/gm)].map(([, flag, env, meaning]) => [
        flag,
        env,
        meaning,
      ])
      expect(told).toEqual(
        Object.values(SETTINGS).map(({ flag, env, meaning, otherwise }) => [
          flag,
          env,
          otherwise === '' ? meaning : `${meaning} (${otherwise})`,
        ]),
      )
    },
  )

  test.each([
    ['check', 'memory-with-replicas'],
    ['explain', 'ip=203.0.113.7'],
  ])('sluice %s --help prints only this command', async (command, text) => {
    for (const words of [
      [command, '--help'],
      ['help', command],
    ]) {
      const { code, out } = await run(...words)
      expect(code).toBe(0)
      expect(out).toContain(text)
      expect(out).not.toContain('SLUICE_')
    }
  })
})

test.each(['--version', '-v', 'serve --version'])('sluice %s is the version of the package', async line => {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  expect(await run(...line.split(' '))).toEqual({ code: 0, out: `sluice ${manifest.version}\n`, err: '' })
})

test.each<[words: string[], err: string]>([
  [['nonsense'], "expected a command serve, check, explain, modes, reset, block, got 'nonsense'; see sluice --help"],
  [['__proto__'], "expected a command serve, check, explain, modes, reset, block, got '__proto__'; see sluice --help"],
  [['toString'], "expected a command serve, check, explain, modes, reset, block, got 'toString'; see sluice --help"],
  [['check'], 'expected sluice check <file or folder>; see sluice --help'],
  [['check', 'a', 'b'], 'expected sluice check <file or folder>; see sluice --help'],
  [['check', 'a', '--replicas', '0'], "expected --replicas as a number, 1 or more, got '0'; see sluice --help"],
  [['check', 'a', '--replicas', 'two'], "expected --replicas as a number, 1 or more, got 'two'; see sluice --help"],
  [['check', 'a', '--http-port', '1'], 'expected sluice check without --http-port; see sluice --help'],
  [['explain'], 'expected sluice explain <file> <request>; see sluice --help'],
  [['explain', 'a'], 'expected sluice explain <file> <request>; see sluice --help'],
  [['explain', 'a', 'b=1', '--store', 'memory'], 'expected sluice explain without --store; see sluice --help'],
  [['serve', '--json'], 'expected sluice serve without --json; see sluice --help'],
  [['serve', '--replicas', '2'], 'expected sluice serve without --replicas; see sluice --help'],
  [
    ['serve', 'a', 'b'],
    'expected sluice serve [rules.yaml] [--envoy <file or folder>] with at most one rules file; see sluice --help',
  ],
  [
    ['serve', 'a', '--rules', 'b'],
    'expected sluice serve [rules.yaml] [--envoy <file or folder>] with at most one rules file; see sluice --help',
  ],
  [['serve', '--nonsense'], "Unknown option '--nonsense'; see sluice --help"],
  [['serve', '--http-prot', '81'], "Unknown option '--http-prot'; write --http-port; see sluice --help"],
  [['check', 'a', '--json=yes'], "Option '--json' does not take an argument; see sluice --help"],
  [['serve', '--store'], "Option '--store <value>' argument missing; see sluice --help"],
])('sluice %j is a wrong call: exit code 2, and the error says what was expected', async (words, err) => {
  expect(await run(...words)).toEqual({ code: 2, out: '', err: `${err}\n` })
})
