import type { Attack } from './attack.ts'
import { CALLERS } from './callers.ts'
import { OPERATORS } from './operators.ts'
import { PATHS } from './paths.ts'

export const ATTACKS: readonly Attack[] = [...PATHS, ...CALLERS, ...OPERATORS]
