import { expect, test } from 'vitest'
import { TIMED_SCRIPTS } from '../packages/sluice/src/fixtures/redis/timed-scripts.generated.ts'
import { LUA_FAULTS } from './lua-faults/all.ts'
import { faulty } from './lua-faults/plant.ts'

// Every fault must still fit the scripts, because `npm test` runs the whole proof only at its end.
test.each(LUA_FAULTS)('$file: $says: fits the file and its scripts', fault => {
  expect(faulty(fault)).not.toEqual(TIMED_SCRIPTS)
})

test('no two faults are the same', () => {
  const plants = LUA_FAULTS.map(({ file, find, replace }) => [file, find, replace].join('\0'))
  expect(plants).toHaveLength(new Set(plants).size)
})
