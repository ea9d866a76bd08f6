import type { BenchCase } from '../suites.ts'
import { quotaCases } from './quota.ts'
import { shapingCases } from './shaping.ts'

export const cases: readonly BenchCase[] = [...quotaCases, ...shapingCases]
