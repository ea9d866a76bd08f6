import { costOf } from '../http/check-request.ts'
import { BadRequest } from '../http/http-answer.ts'
import { GrpcError } from '../rls/grpc/grpc-status.ts'
import { UsageError } from './usage.ts'

/** A request as JSON, or as words such as `ip=203.0.113.7 cost=5`. */
export function requestOf(words: readonly string[]): Record<string, unknown> {
  const text = words.join(' ')
  if (text.trimStart().startsWith('{')) return JSON.parse(text) as Record<string, unknown>
  const pairs = words.map(word => {
    const mark = word.indexOf('=')
    if (mark < 1) throw new UsageError(`expected a request as JSON or as name=value, got '${word}'`)
    return [word.slice(0, mark), word.slice(mark + 1)] as const
  })
  const { cost = '1', ...subject } = Object.fromEntries(pairs)
  return { ...subject, cost: costOf(cost) }
}

/** Reports an error in the request as a usage error, since the caller has to fix it. */
export function attempt<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof SyntaxError) throw new UsageError(`expected a request as JSON, got: ${error.message}`)
    if (error instanceof BadRequest || error instanceof GrpcError) throw new UsageError(error.message)
    throw error
  }
}
