import { expect, test } from 'vitest'
import { TIMED_SCRIPTS } from '../packages/sluice/src/fixtures/redis/timed-scripts.generated.ts'
import { LUA_FAULTS } from './lua-faults/all.ts'
import { faulty } from './lua-faults/plant.ts'

// A change to the scripts must not disarm the proof, which runs only at the end.
test.each(LUA_FAULTS)('$file: $says: fits the file and its scripts', fault => {
  expect(faulty(fault)).not.toEqual(TIMED_SCRIPTS)
})

test('no two faults are the same', () => {
  const plants = LUA_FAULTS.map(({ file, find, replace }) => [file, find, replace].join('\0'))
  expect(plants).toHaveLength(new Set(plants).size)
})
