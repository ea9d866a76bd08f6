import type { BenchCase } from '../bench-case.ts'
import { footprintCases } from './footprint.ts'
import { logLengthCase } from './log-length.ts'
import { tenMillionCase } from './ten-million.ts'
import { throughputCases } from './throughput.ts'

export const cases: readonly BenchCase[] = [...throughputCases, ...footprintCases, tenMillionCase, logLengthCase]
