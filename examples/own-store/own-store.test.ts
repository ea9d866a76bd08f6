import { storeSuite } from 'sluice/testing'
import { expect, test } from 'vitest'
import { mapStore } from './map-store.ts'

const cases = storeSuite(options => mapStore(options))

test.each(cases.map(({ name, run }) => [name, run] as const))('%s', { timeout: 60_000 }, async (_, run) => run())

test('no case is skipped', () => {
  expect(cases.filter(({ skip }) => skip !== undefined)).toEqual([])
})
