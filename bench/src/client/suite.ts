import type { BenchCase } from '../bench-case.ts'
import { quotaCases } from './quota.ts'
import { shapingCases } from './shaping.ts'

export const cases: readonly BenchCase[] = [...quotaCases, ...shapingCases]
