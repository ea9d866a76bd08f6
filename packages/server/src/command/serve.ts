import cluster from 'node:cluster'
import { availableParallelism } from 'node:os'
import { consoleLog as log } from '../log.ts'
import { startService } from '../service.ts'
import { readSettings, type Settings } from '../settings.ts'
import { startWorkers } from '../supervisor.ts'
import { runWorker } from '../worker.ts'
import { type Environment, EXIT, UsageError } from './command.ts'

/** `sluice serve`: runs until it is told to end, and then answers what it was asked before. */
export async function serve(
  operands: readonly string[],
  flags: Readonly<Partial<Record<string, string>>>,
  environment: Environment,
): Promise<number> {
  const [rules, ...more] = operands
  if (more.length > 0) throw new UsageError('expected sluice serve [rules.yaml] [--envoy <file or folder>]')
  const settings = readSettings(rules === undefined ? flags : { ...flags, rules }, environment)
  if (cluster.isWorker) {
    await runWorker(settings, log)
    return EXIT.ok
  }
  const workers = settings.workers === 0 ? availableParallelism() : settings.workers
  const service = workers === 1 ? await startService(settings, log) : await startWorkers(settings, workers, log)
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

function announce({ host }: Settings, { http, grpc, resp }: { http: number; grpc: number; resp: number }): void {
  const shown = host.includes(':') ? `[${host}]` : host
  log.info(
    `serving on http://${shown}:${http} (API, page), grpc://${shown}:${grpc} (Envoy), redis://${shown}:${resp} (CL.THROTTLE)`,
  )
}
