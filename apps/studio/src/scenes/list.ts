import { bursts } from './bursts.ts'
import { callers } from './callers.ts'
import { costs } from './costs.ts'
import { nodes } from './nodes.ts'
import type { Scene } from './scene.ts'

export const SCENES: readonly Scene[] = [...bursts, ...callers, ...nodes, ...costs]
