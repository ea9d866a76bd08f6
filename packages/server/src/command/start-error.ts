import { WorkerFailed } from '../control/supervisor.ts'
import { SETTINGS, type ServiceSettings } from '../settings.ts'

/** The service cannot start for a reason that its user can fix. */
export class StartError extends Error {
  override readonly name = 'StartError'
}

/** The system calls of a process that listens. A worker asks its primary to bind. */
const LISTENING = ['listen', 'bind', 'getaddrinfo']
const PORTS = ['httpPort', 'grpcPort', 'respPort'] as const

/** Turns an error of the operating system into advice. Returns any other error unchanged. */
export function startError(error: unknown, settings: ServiceSettings): unknown {
  const {
    code = '',
    syscall,
    port,
    path,
    message,
    address,
  } = Object(error) as NodeJS.ErrnoException & {
    port?: number
    address?: string
  }
  if (error instanceof WorkerFailed) return new StartError(error.message)
  if (code.startsWith('ERR_OSSL')) return new StartError(`--tls-cert and --tls-key: they cannot be used (${message})`)
  if (address !== undefined && address === settings.adminSocket) return new StartError(socketProblem(code, address))
  if (LISTENING.includes(syscall ?? '')) return new StartError(listenProblem(code, port, settings))
  if (path !== undefined) return new StartError(`${path}: expected a file that can be read, got ${code}`)
  return error
}

function socketProblem(code: string, path: string): string {
  const flag = `--${SETTINGS.adminSocket.flag}`
  if (code === 'EADDRINUSE') return `${flag}: ${path} is in use: end the service that has it, or choose another path`
  return `${flag}: expected a path where a socket can be made, got ${path} (${code})`
}

function listenProblem(code: string, port: number | undefined, settings: ServiceSettings): string {
  const name = PORTS.find(one => settings[one] === port)
  const flag = name === undefined ? 'its flag' : `--${SETTINGS[name].flag}`
  if (code === 'EADDRINUSE')
    return `port ${port} is in use: end the program that has it, or choose another with ${flag}`
  if (code === 'EACCES') return `port ${port} may not be opened by this user: choose one from 1024 on with ${flag}`
  return `--host: expected an address of this machine, got '${settings.host}' (${code})`
}
