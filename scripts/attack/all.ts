import type { Attack } from './attack.ts'
import { CALLERS } from './callers.ts'
import { CLOCKS } from './clocks.ts'
import { CONNECTIONS } from './connections.ts'
import { FLOODS } from './floods.ts'
import { OPERATORS } from './operators.ts'
import { OUTAGES } from './outages.ts'
import { PATHS } from './paths.ts'
import { WAITS } from './waits.ts'

export const ATTACKS: readonly Attack[] = [
  ...PATHS,
  ...CALLERS,
  ...OPERATORS,
  ...WAITS,
  ...FLOODS,
  ...CLOCKS,
  ...CONNECTIONS,
  ...OUTAGES,
]
