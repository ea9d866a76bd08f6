import { request } from 'node:http'
import type { ModeOfLimit } from '../decider/decider.ts'
import { SETTINGS } from '../settings.ts'
import { attempt, requestOf } from './request.ts'
import { StartError } from './start-error.ts'
import { EXIT, type Invocation, UsageError } from './usage.ts'

const { flag, env } = SETTINGS.adminSocket

/** `sluice modes`: prints the mode of each limit, or sets the mode of one. */
export async function modes(call: Invocation): Promise<number> {
  const { operands } = call
  if (operands.length === 0) {
    const limits = (await ask(call, 'GET', '/v1/modes')) as readonly ModeOfLimit[]
    return print(call, limits, limits.map(({ limit, mode }) => `${limit} ${mode}`).join('\n'))
  }
  const [limit, mode, ...more] = operands
  if (mode === undefined || more.length > 0) throw new UsageError('expected sluice modes [<limit> enforce|shadow|off]')
  return print(call, await ask(call, 'POST', '/v1/modes', { limit, mode }), `${limit} is now ${mode}`)
}

/** `sluice reset`: clears the counts of a subject. */
export async function reset(call: Invocation): Promise<number> {
  const { limit } = call.flags
  const body = { ...subjectOf('reset', call), ...(limit !== undefined && { limits: limit.split(',') }) }
  return print(call, await ask(call, 'POST', '/v1/reset', body), `reset ${call.operands.join(' ')}`)
}

/** `sluice block`: refuses a subject for a while. */
export async function block(call: Invocation): Promise<number> {
  const { limit, for: length } = call.flags
  if (length === undefined) throw new UsageError('expected sluice block <subject> --for 15m [--limit name]')
  const body = { ...subjectOf('block', call), for: length, ...(limit !== undefined && { limit }) }
  return print(call, await ask(call, 'POST', '/v1/block', body), `blocked ${call.operands.join(' ')} for ${length}`)
}

function subjectOf(command: string, { operands }: Invocation): Record<string, unknown> {
  if (operands.length === 0) throw new UsageError(`expected sluice ${command} <subject>, such as user=42`)
  const { cost: _, ...subject } = attempt(() => requestOf(operands))
  return subject
}

function print({ json }: Invocation, answer: unknown, text: string): number {
  console.log(json ? JSON.stringify(answer) : text)
  return EXIT.ok
}

/** Calls the service over its admin socket. Throws the error that the service answers. */
async function ask({ flags, environment }: Invocation, method: string, path: string, body?: object): Promise<unknown> {
  const socketPath = flags[flag] || environment[env]
  if (!socketPath)
    throw new UsageError(`expected --${flag} or ${env}: the socket of a service that was started with it`)
  const { status, text } = await exchange(socketPath, method, path, JSON.stringify(body ?? ''))
  const answer = JSON.parse(text) as { error?: string }
  if (status === 200) return answer
  throw new StartError(answer.error ?? `expected an answer, got status ${status}`)
}

function exchange(socketPath: string, method: string, path: string, body: string) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const failed = ({ code, message }: NodeJS.ErrnoException) =>
      reject(new StartError(`${socketPath}: expected the socket of a running service, got ${code ?? message}`))
    const sent = request({ socketPath, method, path, agent: false }, response => {
      let text = ''
      response.setEncoding('utf8').on('data', chunk => (text += chunk))
      response.on('end', () => resolve({ status: response.statusCode!, text }))
      response.on('error', failed)
    })
    sent.on('error', failed)
    sent.end(method === 'POST' ? body : '')
  })
}
