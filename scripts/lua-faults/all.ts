import { aroundFaults } from './around.ts'
import { bucketCallFaults } from './bucket-calls.ts'
import { kernelFaults } from './kernels.ts'
import { oneCallFaults } from './one-calls.ts'
import { plainCallFaults } from './plain-calls.ts'
import { plainFaults } from './plain-ways.ts'
import type { LuaFault } from './plant.ts'

/** By the first law each breaks. */
export const LUA_FAULTS: readonly LuaFault[] = [
  ...oneCallFaults,
  ...bucketCallFaults,
  ...plainCallFaults,
  ...plainFaults,
  ...kernelFaults,
  ...aroundFaults,
].sort((a, b) => a.law[0]! - b.law[0]!)
