import type { BenchCase } from '../suites.ts'
import { httpCases } from './http.ts'
import { respCases } from './resp.ts'

export const cases: readonly BenchCase[] = [...respCases, ...httpCases]
