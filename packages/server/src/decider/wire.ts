import type { Awaitable } from '../awaitable.ts'
import type { Readings } from '../metrics/metrics.ts'
import { freshVerdict, type ThrottleVerdict } from '../resp/throttle/throttle.ts'
import type { Decider } from './decider.ts'

/** The parts of a decider whose method calls are sent to another process with their arguments. */
const METHODS = {
  checks: ['check', 'peek', 'reserve', 'settle', 'explain', 'limits'],
  operations: ['refund', 'reset', 'block', 'setMode', 'modes', 'shadows'],
  descriptors: ['shouldRateLimit'],
} as const satisfies { readonly [Part in Exclude<keyof Decider, 'throttle'>]: readonly (keyof Decider[Part])[] }
type MethodPart = keyof typeof METHODS

/** One call on its way from a process that speaks protocols to the one that decides: `checks.check`. */
export interface RemoteCall {
  readonly id: number
  readonly method: string
  readonly args: readonly unknown[]
}

/** A part of a decider whose methods are called elsewhere. */
export function remotePart<Part extends MethodPart>(
  part: Part,
  call: (method: string, ...args: unknown[]) => Promise<unknown>,
): Decider[Part] {
  const methods = METHODS[part].map(name => [name, (...args: unknown[]) => call(`${part}.${name}`, ...args)] as const)
  // Every method of the part is listed in METHODS, and all of them answer later.
  return Object.fromEntries(methods) as unknown as Decider[Part]
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

/** An error of the deciding process, with the codes that decide what callers are told. */
export class RemoteError extends Error {
  override readonly name = 'RemoteError'
  readonly code: string | undefined
  readonly grpc: string | undefined

  constructor({ message, code, grpc }: ErrorText) {
    super(message)
    this.code = code
    this.grpc = grpc
  }
}

/** The parts of the deciding process that answer calls. */
export interface CallTarget {
  readonly decider: Decider
  /** The metrics for Prometheus. A process that decides by itself passes its own readings. */
  metrics(readings?: Readings): string
}

/** Answers all calls of a message together, and at once if all of them are decided in this process. */
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
  if (method === 'left') {
    const key = bufferOf(args[0] as Uint8Array)
    return decider.throttle.left(key, 0, key.length)
  }
  const [part, name] = method.split('.') as [MethodPart, string]
  if (!METHODS[part]?.includes(name as never)) throw new Error(`no such call: ${method}`)
  const methods = decider[part] as unknown as Readonly<Record<string, (...args: unknown[]) => unknown>>
  return methods[name]!(...args)
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
