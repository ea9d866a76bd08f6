import cluster from 'node:cluster'
import { randomBytes } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { consoleLog, type Log } from '../control/log.ts'
import { type Service, startService } from '../control/service.ts'
import { startWorkers } from '../control/supervisor.ts'
import { runWorker } from '../control/worker.ts'
import { msOf, readSettings, SETTINGS, type ServiceSettings } from '../settings.ts'
import { startError } from './start-error.ts'
import { type Environment, EXIT, type Invocation, UsageError } from './usage.ts'

/** `sluice serve`: runs until it is told to end, and answers the requests it has before it ends. */
export async function serve({ operands, flags, environment }: Invocation): Promise<number> {
  const [rules, ...more] = operands
  if (more.length > 0 || (rules !== undefined && flags.rules !== undefined)) {
    throw new UsageError('expected sluice serve [rules.yaml] [--envoy <file or folder>] with at most one rules file')
  }
  const given = readSettings(rules === undefined ? flags : { ...flags, rules }, environment)
  const settings = given.adminToken === 'auto' ? { ...given, adminToken: adminTokenFrom(environment) } : given
  const log = consoleLog(settings.log)
  const service = await start(settings, log)
  if (service === undefined) return EXIT.ok
  announce(settings, service, log)
  // This goes to the terminal only: others may read the log.
  if (given !== settings)
    console.log(`For operators: ${pageOf(settings, service.ports.http)}/#token=${settings.adminToken}`)
  process.on('SIGHUP', () => void service.reload())
  await untilEnd(service, endSignals(), msOf(settings.lameDuck), log)
  log.info('closing: answering open requests')
  await service.close()
  log.info('closed')
  return EXIT.ok
}

/**
 * When SIGTERM arrives, load balancers still send requests here, so the service goes on until they have noticed. Ctrl-C
 * comes from a user who waits, so it ends the service at once, as does a second signal.
 */
async function untilEnd(
  service: Service,
  signalled: () => Promise<string>,
  lameDuckMs: number,
  log: Log,
): Promise<void> {
  const first = await signalled()
  if (first === 'SIGINT' || lameDuckMs === 0) return log.info(`${first}: the service ends`)
  log.info(`${first}: the service ends in ${lameDuckMs} ms, /readyz says 503 from now on; send it again to end sooner`)
  service.drain()
  const cut = new AbortController()
  await Promise.race([sleep(lameDuckMs, undefined, { signal: cut.signal }).catch(() => {}), signalled()])
  cut.abort()
}

/** Waits for the next signal. No signal ends the process by itself, so that open requests are answered first. */
function endSignals(): () => Promise<string> {
  const signals = new EventEmitter()
  for (const one of ['SIGINT', 'SIGTERM'] as const) process.on(one, () => signals.emit('signal', one))
  return async () => {
    const [name] = await once(signals, 'signal')
    return name as string
  }
}

/** Starts the service. Returns undefined in a worker: its supervisor takes care of the rest. */
async function start(settings: ServiceSettings, log: Log): Promise<Service | undefined> {
  try {
    if (cluster.isWorker) return await runWorker(settings, log).then(() => undefined)
    const workers = settings.workers === 0 ? availableParallelism() : settings.workers
    return workers === 1 ? await startService(settings, log) : await startWorkers(settings, workers, log)
  } catch (error) {
    throw startError(error, settings)
  }
}

/** Makes an admin token. A worker uses the one of its supervisor, so that all processes of a service share it. */
function adminTokenFrom(environment: Environment): string {
  const handed = environment[SETTINGS.adminToken.env]
  return cluster.isWorker && handed !== undefined ? handed : randomBytes(24).toString('base64url')
}

function schemeOf({ httpTls }: ServiceSettings): string {
  return httpTls === 'on' ? 'https' : 'http'
}

function pageOf(settings: ServiceSettings, port: number): string {
  const { host } = settings
  const isAny = host === '0.0.0.0' || host === '::'
  return `${schemeOf(settings)}://${isAny ? 'localhost' : shownHost(host)}:${port}`
}

function shownHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** The warnings of one file; `sluice check` prints all of them. */
const MOST_WARNINGS = 20

function announce(settings: ServiceSettings, { ports, served }: Service, log: Log): void {
  const { host, envoy } = settings
  for (const { path, warnings } of served.files) {
    for (const { code, message, limit } of warnings.slice(0, MOST_WARNINGS)) {
      log.warn(`${path}: ${message}`, { code, ...(limit !== undefined && { limit }) })
    }
    const more = warnings.length - MOST_WARNINGS
    if (more > 0) log.warn(`${path}: ${more} more warnings: see sluice check ${path}`)
  }
  const shown = shownHost(host)
  const limits = Object.fromEntries(served.files.map(({ path, limits }) => [path, limits]))
  log.info(
    `serving on ${schemeOf(settings)}://${shown}:${ports.http} (API, page), grpc://${shown}:${ports.grpc} (${envoy === '' ? 'Envoy, once --envoy is given' : 'Envoy'}), redis://${shown}:${ports.resp} (CL.THROTTLE)`,
    { limits, store: served.store },
  )
}
