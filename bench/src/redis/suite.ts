import type { BenchCase } from '../bench-case.ts'
import { bytesCase } from './bytes.ts'
import { ceilingCase } from './ceiling.ts'
import { floodCase } from './flood.ts'
import { latencyCase } from './latency.ts'
import { logCases } from './log-of-thousand.ts'
import { serverTimeCase } from './server-time.ts'
import { throughputCases } from './throughput.ts'

export const cases: readonly BenchCase[] = [
  ...throughputCases,
  latencyCase,
  floodCase,
  ...logCases,
  bytesCase,
  serverTimeCase,
  ceilingCase,
]
