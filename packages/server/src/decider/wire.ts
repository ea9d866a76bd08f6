import type { Awaitable } from '../awaitable.ts'
import type { Readings } from '../metrics/metrics.ts'
import { freshVerdict, type ThrottleVerdict } from '../resp/throttle/throttle.ts'
import type { Decider } from './decider.ts'

/** What of a decider is asked by its name, with its arguments as they are. */
const BY_NAME = [
  ...(['check', 'peek', 'refund', 'reset', 'block', 'reserve', 'settle', 'explain', 'setMode', 'shadows'] as const),
  'shouldRateLimit' as const,
]
type ByName = (typeof BY_NAME)[number]

/** One question on its way from a process that speaks protocols to the one that decides. */
export interface RemoteCall {
  readonly id: number
  readonly method: ByName | 'throttle' | 'forget' | 'metrics'
  readonly args: readonly unknown[]
}

export interface RemoteCalls {
  readonly asked: readonly RemoteCall[]
}

interface ErrorText {
  readonly message: string
  readonly code?: string
  readonly grpc?: string
}

export type RemoteResults = readonly { readonly id: number; readonly value?: unknown; readonly error?: ErrorText }[]

/** An error of the deciding process, with what callers may be told by. */
export class RemoteError extends Error {
  override readonly name = 'FarError'
  readonly code: string | undefined
  readonly grpc: string | undefined

  constructor({ message, code, grpc }: ErrorText) {
    super(message)
    this.code = code
    this.grpc = grpc
  }
}

/** The deciding process, as far as questions go. */
export interface CallTarget {
  readonly decider: Decider
  /** What Prometheus reads; of a process that decides by itself, with its own readings. */
  metrics(readings?: Readings): string
}

/** Answers all questions of a message together; at once where all of them are decided in this process. */
export function answerAll(owner: CallTarget, asked: readonly RemoteCall[]): Awaitable<RemoteResults> {
  const answers = asked.map(question => answerOne(owner, question))
  return answers.some(one => one instanceof Promise) ? Promise.all(answers) : (answers as RemoteResults)
}

function answerOne(owner: CallTarget, question: RemoteCall): Awaitable<RemoteResults[number]> {
  const { id } = question
  const failed = (error: unknown) => ({ id, error: toldOf(error) })
  try {
    const value = answer(owner, question)
    return value instanceof Promise ? value.then(made => ({ id, value: made as unknown }), failed) : { id, value }
  } catch (error) {
    return failed(error)
  }
}

function answer(owner: CallTarget, { method, args }: RemoteCall): unknown {
  const { decider } = owner
  if (method === 'metrics') return owner.metrics(args[0] as Readings | undefined)
  if (method === 'throttle') return throttle(decider, args[0] as RemoteThrottleRequest)
  if (method === 'forget') {
    const key = bufferOf(args[0] as Uint8Array)
    return decider.throttle.forget(key, 0, key.length)
  }
  if (!BY_NAME.includes(method)) throw new Error(`no such question: ${method}`)
  return (decider[method] as (...args: unknown[]) => unknown).apply(decider, [...args])
}

export interface RemoteThrottleRequest {
  readonly key: Uint8Array
  readonly interval: number | bigint
  readonly limit: number | bigint
  readonly quantity: number | bigint
}

function throttle(decider: Decider, { key, ...amounts }: RemoteThrottleRequest): Awaitable<ThrottleVerdict> {
  const verdict = freshVerdict()
  const decided = decider.throttle.decide({ bytes: bufferOf(key), start: 0, end: key.length, ...amounts }, verdict)
  return decided === undefined ? verdict : decided.then(() => verdict)
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function toldOf(error: unknown): ErrorText {
  const { message, code, grpc } = Object(error) as { message?: unknown; code?: unknown; grpc?: unknown }
  return {
    message: String(message),
    ...(typeof code === 'string' && { code }),
    ...(typeof grpc === 'string' && { grpc }),
  }
}
