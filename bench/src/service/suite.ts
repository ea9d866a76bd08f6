import type { BenchCase } from '../bench-case.ts'
import { grpcCases } from './grpc.ts'
import { httpCases } from './http.ts'
import { respCases } from './resp.ts'

export const cases: readonly BenchCase[] = [...respCases, ...grpcCases, ...httpCases]
