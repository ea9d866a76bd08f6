import cluster from 'node:cluster'
import { availableParallelism } from 'node:os'
import { consoleLog as log } from '../log.ts'
import { type Service, startService } from '../service.ts'
import { readSettings, type Settings } from '../settings.ts'
import { startWorkers } from '../supervisor.ts'
import { runWorker } from '../worker.ts'
import { startError } from './start-error.ts'
import { type Call, EXIT, UsageError } from './usage.ts'

/** `sluice serve`: runs until it is told to end, and then answers what it was asked before. */
export async function serve({ operands, flags, environment }: Call): Promise<number> {
  const [rules, ...more] = operands
  if (more.length > 0 || (rules !== undefined && flags.rules !== undefined)) {
    throw new UsageError('expected sluice serve [rules.yaml] [--envoy <file or folder>], and rules once')
  }
  const settings = readSettings(rules === undefined ? flags : { ...flags, rules }, environment)
  const service = await start(settings)
  if (service === undefined) return EXIT.ok
  announce(settings, service.ports)
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
async function start(settings: Settings): Promise<Service | undefined> {
  try {
    if (cluster.isWorker) return await runWorker(settings, log).then(() => undefined)
    const workers = settings.workers === 0 ? availableParallelism() : settings.workers
    return workers === 1 ? await startService(settings, log) : await startWorkers(settings, workers, log)
  } catch (error) {
    throw startError(error, settings)
  }
}

function announce({ host }: Settings, { http, grpc, resp }: { http: number; grpc: number; resp: number }): void {
  const shown = host.includes(':') ? `[${host}]` : host
  log.info(
    `serving on http://${shown}:${http} (API, page), grpc://${shown}:${grpc} (Envoy), redis://${shown}:${resp} (CL.THROTTLE)`,
  )
}
