import { aroundFaults } from './around.ts'
import { countFaults } from './count.ts'
import { kernelFaults } from './kernels.ts'
import type { LuaFault } from './plant.ts'

/** By the first law each breaks. */
export const LUA_FAULTS: readonly LuaFault[] = [...countFaults, ...kernelFaults, ...aroundFaults].sort(
  (a, b) => a.law[0]! - b.law[0]!,
)
