import { FarDecider } from './decider/far-decider.ts'
import type { Doors } from './doors.ts'
import type { Log } from './log.ts'
import { Metrics } from './metrics.ts'
import { RulesKeeper } from './rules-keeper.ts'
import { openEngine, openFor } from './service.ts'
import type { Settings } from './settings.ts'
import { isSharedStore } from './store-from.ts'
import type { FromWorker, ToWorker } from './supervisor.ts'

/** How often what was counted here goes to the process that answers Prometheus. */
const COUNTS_EVERY_MS = 1000

/** One of several processes that speak the protocols; what it is told, it is told by the supervisor. */
export async function runWorker(settings: Settings, log: Log): Promise<void> {
  // Whoever ends the service tells the supervisor, which lets its workers finish.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
  process.once('disconnect', () => process.exit(1))

  const far = new FarDecider(asked => tell(asked))
  const { doors, reload, close, metrics } = await open(settings, log, far)
  const report = () => {
    doors.count()
    tell({ counts: metrics.take() })
  }
  const timer = setInterval(report, COUNTS_EVERY_MS)
  process.on('message', (message: ToWorker) => {
    if ('answers' in message) far.receive(message.answers)
    else if (message.command === 'reload') reload()
    else void drain()
  })
  tell({ ports: doors.ports })

  async function drain(): Promise<void> {
    await doors.close()
    clearInterval(timer)
    report()
    await close()
    process.removeAllListeners('disconnect')
    process.disconnect()
  }
}

interface Opened {
  readonly doors: Doors
  readonly metrics: Metrics
  reload(): unknown
  close(): Promise<void>
}

/** Over a store that processes share a worker decides by itself; over memory it asks the owner. */
async function open(settings: Settings, log: Log, far: FarDecider): Promise<Opened> {
  const quiet: Log = { info: () => {}, warn: log.warn }
  const metrics = new Metrics()
  const keeper = new RulesKeeper(settings, quiet, { use: () => {}, counted: () => {} })
  if (!isSharedStore(settings.store || keeper.store)) {
    const doors = await openFor(settings, log, keeper, far, metrics, () => far.metrics())
    return { doors, metrics, reload: () => keeper.reload(), close: async () => keeper.stop() }
  }
  keeper.stop()
  const own = openEngine(settings, quiet)
  await own.engine.connected
  const text = () => {
    tell({ counts: own.engine.metrics.take() })
    return far.metrics(own.engine.readings())
  }
  const doors = await openFor(settings, log, own.keeper, own.engine.decider, own.engine.metrics, text)
  return {
    doors,
    metrics: own.engine.metrics,
    reload: () => own.keeper.reload(),
    async close() {
      own.keeper.stop()
      await own.engine.close()
    },
  }
}

function tell(message: FromWorker): void {
  process.send?.(message)
}
