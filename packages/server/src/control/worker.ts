import { type Decider, withOperations } from '../decider/decider.ts'
import { RemoteDecider } from '../decider/remote-decider.ts'
import { Metrics } from '../metrics/metrics.ts'
import type { ServiceSettings } from '../settings.ts'
import { type Doors, openDoors } from './doors.ts'
import type { Log } from './log.ts'
import { RulesFiles } from './rules-files.ts'
import { backgroundOf, openEngine } from './service.ts'
import { isSharedStore } from './store-from.ts'
import { type FromWorker, type SetMode, setModeIn, type ToWorker } from './supervisor.ts'

/** How often a worker sends its counts to the process that answers Prometheus. */
const COUNTS_EVERY_MS = 1000

/** Runs one of several processes that speak the protocols. It takes commands only from the supervisor. */
export async function runWorker(settings: ServiceSettings, log: Log): Promise<void> {
  // Signals end the supervisor, which lets its workers finish.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
  process.once('disconnect', () => process.exit(1))

  const far = new RemoteDecider(asked => tell(asked))
  const { doors, reload, close, metrics, setMode } = await open(settings, log, far)
  const timer = setInterval(() => report(doors, metrics), COUNTS_EVERY_MS)
  process.on('message', (message: ToWorker) => {
    if ('answers' in message) far.receive(message.answers)
    else if ('mode' in message) setMode(message)
    else if (message.command === 'reload') {
      doors.reload()
      reload()
    } else if (message.command === 'drain') doors.drain()
    else void end()
  })
  tell({ ports: doors.ports })

  async function end(): Promise<void> {
    await doors.close()
    clearInterval(timer)
    report(doors, metrics)
    await close()
    process.removeAllListeners('disconnect')
    process.disconnect()
  }
}

interface Opened {
  readonly doors: Doors
  readonly metrics: Metrics
  reload(): unknown
  /** Applies a mode that an operator has set through another process. */
  setMode(mode: SetMode): void
  close(): Promise<void>
}

/** Over a shared store a worker decides by itself; over memory it asks the owner. */
async function open(settings: ServiceSettings, log: Log, far: RemoteDecider): Promise<Opened> {
  const quiet: Log = { info: () => {}, warn: log.warn }
  const metrics = new Metrics()
  const keeper = new RulesFiles(settings, quiet, { use: () => {}, counted: () => {} })
  if (!isSharedStore(settings.store || keeper.store)) {
    const doors: Doors = await openDoors(
      settings,
      far,
      backgroundOf(log, keeper, metrics, () => {
        report(doors, metrics)
        return far.metrics()
      }),
    )
    // The owner decides, and the change was made there.
    const setMode = () => {}
    return { doors, metrics, reload: () => keeper.reload(), setMode, close: async () => keeper.stop() }
  }
  keeper.stop()
  const own = openEngine(settings, quiet)
  await own.engine.connected
  const text = () => {
    report(doors, own.engine.metrics)
    return far.metrics(own.engine.readings())
  }
  const { decider } = own.engine
  const background = backgroundOf(log, own.keeper, own.engine.metrics, text)
  const doors: Doors = await openDoors(settings, tellingModes(decider), background)
  return {
    doors,
    metrics: own.engine.metrics,
    reload: () => own.keeper.reload(),
    setMode: mode => setModeIn(decider, mode),
    async close() {
      own.keeper.stop()
      await own.engine.close()
    },
  }
}

/** The same decider, which also tells all workers about a mode that an operator sets. */
function tellingModes(decider: Decider): Decider {
  return withOperations(decider, {
    setMode(limit, mode) {
      const set = decider.operations.setMode(limit, mode)
      tell({ limit, mode })
      return set
    },
  })
}

/** Sends the counts since the last time to the process that adds them up. */
function report(doors: Doors, metrics: Metrics): void {
  doors.count()
  tell({ counts: metrics.take() })
}

function tell(message: FromWorker): void {
  process.send?.(message)
}
