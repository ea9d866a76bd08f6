import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { ATTACKS } from './attack/all.ts'
import { held, outcomeOf, table } from './attack/attack.ts'
import { Site } from './attack/site.ts'

const LONGEST_MS = 50_000
const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

/** The service from its sources: nothing has to be built before a test runs. */
const FROM_SOURCES = {
  words: [process.execPath, '--import', 'tsx', '--conditions=@sluice/source', path('../packages/server/src/main.ts')],
  env: { TSX_TSCONFIG_PATH: path('../tsconfig.base.json') },
}

test.each(ATTACKS.filter(({ isQuick }) => isQuick).map(attack => [attack.name, attack] as const))(
  'nothing gets through: %s',
  async (_, attack) => {
    const outcome = await outcomeOf(attack, () => new Site(FROM_SOURCES), LONGEST_MS)
    expect(held(outcome), `${table([outcome])}\n${outcome.error ?? ''}`).toBe(true)
  },
)

const attack = {
  name: 'an attack',
  tried: 'a thing',
  isQuick: false,
  run: async () => ({ attempts: 9, through: 3, allowed: 2 }),
}
const open = () => new Site({ words: [] })

test('what gets through, fails or hangs has not been held', async () => {
  expect(held(await outcomeOf(attack, open, LONGEST_MS))).toBe(false)
  const allowed = { ...attack, run: async () => ({ attempts: 9, through: 2, allowed: 2 }) }
  expect(held(await outcomeOf(allowed, open, LONGEST_MS))).toBe(true)
  const failing = { ...attack, run: () => Promise.reject(new Error('not even started')) }
  expect(held(await outcomeOf(failing, open, LONGEST_MS))).toBe(false)
  const hanging = { ...attack, run: () => new Promise<never>(() => {}) }
  expect(held(await outcomeOf(hanging, open, 1))).toBe(false)
})

test('the names of the attacks are distinct', () => {
  expect(new Set(ATTACKS.map(({ name }) => name)).size).toBe(ATTACKS.length)
})
