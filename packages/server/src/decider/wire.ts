import type { Readings } from '../metrics.ts'
import { freshVerdict } from '../resp/throttle.ts'
import type { Decider } from './decider.ts'

/** What of a decider is asked by its name, with its arguments as they are. */
const BY_NAME = [
  ...(['check', 'peek', 'refund', 'reset', 'reserve', 'settle', 'explain', 'setMode', 'shadows'] as const),
  'shouldRateLimit' as const,
]
type ByName = (typeof BY_NAME)[number]

/** One question on its way from a process that speaks protocols to the one that decides. */
export interface Question {
  readonly id: number
  readonly method: ByName | 'throttle' | 'forget' | 'metrics'
  readonly args: readonly unknown[]
}

export interface Asked {
  readonly asked: readonly Question[]
}

interface Told {
  readonly message: string
  readonly code?: string
  readonly grpc?: string
}

export type Answers = readonly { readonly id: number; readonly value?: unknown; readonly error?: Told }[]

/** An error of the deciding process, with what callers may be told by. */
export class FarError extends Error {
  override readonly name = 'FarError'
  readonly code: string | undefined
  readonly grpc: string | undefined

  constructor({ message, code, grpc }: Told) {
    super(message)
    this.code = code
    this.grpc = grpc
  }
}

/** The deciding process, as far as questions go. */
export interface Owner {
  readonly decider: Decider
  /** What Prometheus reads; of a process that decides by itself, with its own readings. */
  metrics(readings?: Readings): string
}

/** Answers all questions of a message together. */
export async function answerAll(owner: Owner, asked: readonly Question[]): Promise<Answers> {
  return Promise.all(
    asked.map(async question => {
      try {
        return { id: question.id, value: await answer(owner, question) }
      } catch (error) {
        return { id: question.id, error: toldOf(error) }
      }
    }),
  )
}

function answer(owner: Owner, { method, args }: Question): unknown {
  const { decider } = owner
  if (method === 'metrics') return owner.metrics(args[0] as Readings | undefined)
  if (method === 'throttle') return throttle(decider, args[0] as ThrottleQuestion)
  if (method === 'forget') {
    const key = bufferOf(args[0] as Uint8Array)
    return decider.throttle.forget(key, 0, key.length)
  }
  if (!BY_NAME.includes(method)) throw new Error(`no such question: ${method}`)
  return (decider[method] as (...args: unknown[]) => unknown).apply(decider, [...args])
}

export interface ThrottleQuestion {
  readonly key: Uint8Array
  readonly interval: number | bigint
  readonly limit: number | bigint
  readonly quantity: number | bigint
}

async function throttle(decider: Decider, { key, ...amounts }: ThrottleQuestion) {
  const verdict = freshVerdict()
  await decider.throttle.decide({ bytes: bufferOf(key), start: 0, end: key.length, ...amounts }, verdict)
  return verdict
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function toldOf(error: unknown): Told {
  const { message, code, grpc } = Object(error) as { message?: unknown; code?: unknown; grpc?: unknown }
  return {
    message: String(message),
    ...(typeof code === 'string' && { code }),
    ...(typeof grpc === 'string' && { grpc }),
  }
}
