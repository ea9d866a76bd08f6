import cluster from 'node:cluster'
import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { consoleLog as log } from '../control/log.ts'
import { type Service, startService } from '../control/service.ts'
import { startWorkers } from '../control/supervisor.ts'
import { runWorker } from '../control/worker.ts'
import { readSettings, SETTINGS, type ServiceSettings } from '../settings.ts'
import { startError } from './start-error.ts'
import { type Environment, EXIT, type Invocation, UsageError } from './usage.ts'

/** `sluice serve`: runs until it is told to end, and then answers what it was asked before. */
export async function serve({ operands, flags, environment }: Invocation): Promise<number> {
  const [rules, ...more] = operands
  if (more.length > 0 || (rules !== undefined && flags.rules !== undefined)) {
    throw new UsageError('expected sluice serve [rules.yaml] [--envoy <file or folder>], and rules once')
  }
  const given = readSettings(rules === undefined ? flags : { ...flags, rules }, environment)
  const settings = given.adminToken === 'auto' ? { ...given, adminToken: adminTokenFrom(environment) } : given
  const service = await start(settings)
  if (service === undefined) return EXIT.ok
  announce(settings, service.ports)
  // Not in the log, which others may read.
  if (given !== settings)
    console.log(`For operators: ${pageOf(settings, service.ports.http)}/#token=${settings.adminToken}`)
  process.on('SIGHUP', () => void service.reload())
  const signal = await new Promise<string>(resolve => {
    for (const one of ['SIGINT', 'SIGTERM'] as const) process.once(one, () => resolve(one))
  })
  log.info(`${signal}: answering what was asked, then closing`)
  await service.close()
  log.info('closed')
  return EXIT.ok
}

/** A worker has its supervisor to look after it: there, nothing is left to do. */
async function start(settings: ServiceSettings): Promise<Service | undefined> {
  try {
    if (cluster.isWorker) return await runWorker(settings, log).then(() => undefined)
    const workers = settings.workers === 0 ? availableParallelism() : settings.workers
    return workers === 1 ? await startService(settings, log) : await startWorkers(settings, workers, log)
  } catch (error) {
    throw startError(error, settings)
  }
}

/** One for all processes of a service: its supervisor hands it to the workers. */
function adminTokenFrom(environment: Environment): string {
  const handed = environment[SETTINGS.adminToken.env]
  return cluster.isWorker && handed !== undefined ? handed : randomBytes(24).toString('base64url')
}

function pageOf({ host }: ServiceSettings, port: number): string {
  const isAny = host === '0.0.0.0' || host === '::'
  return `http://${isAny ? 'localhost' : shownHost(host)}:${port}`
}

function shownHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

function announce({ host }: ServiceSettings, { http, grpc, resp }: Service['ports']): void {
  const shown = shownHost(host)
  log.info(
    `serving on http://${shown}:${http} (API, page), grpc://${shown}:${grpc} (Envoy), redis://${shown}:${resp} (CL.THROTTLE)`,
  )
}
