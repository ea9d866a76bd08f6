import type { BenchCase } from '../suites.ts'
import { grpcCases } from './grpc.ts'
import { httpCases } from './http.ts'
import { respCases } from './resp.ts'

export const cases: readonly BenchCase[] = [...respCases, ...grpcCases, ...httpCases]
