import type { Clock } from 'sluice'
import type { Awaitable } from '../awaitable.ts'
import type { ParsedRules } from '../decider/local-decider.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { ServiceSettings } from '../settings.ts'
import { type Background, type Doors, openAdminSocket, openDoors } from './doors.ts'
import { Engine, siteOf } from './engine.ts'
import type { Log } from './log.ts'
import { RulesFiles } from './rules-files.ts'

export interface Service extends Omit<Doors, 'count' | 'reload'> {
  /** The rules and the store, for the log. */
  readonly served: Served
  /** Reads the rules again. Returns false if they have errors; the old ones stay. */
  reload(): boolean
}

/** Starts one process that decides and speaks all protocols. Resolves when all doors are open. Tests pass a clock. */
export async function startService(settings: ServiceSettings, log: Log, clock?: Clock): Promise<Service> {
  const { engine, keeper } = openEngine(settings, log, clock)
  try {
    await engine.connected
    const text = () => {
      doors.count()
      return engine.metricsText()
    }
    const background = backgroundOf(log, keeper, engine.metrics, text)
    const socket = await openAdminSocket(settings, engine.decider, background)
    const doors: Doors = await openDoors(settings, engine.decider, background).catch(async error => {
      await socket.close()
      throw error
    })
    return {
      ports: doors.ports,
      served: servedBy(keeper, settings),
      reload() {
        doors.reload()
        return keeper.reload()
      },
      drain: () => doors.drain(),
      async close() {
        keeper.stop()
        await Promise.all([doors.close(), socket.close()])
        await engine.close()
      },
    }
  } catch (error) {
    keeper.stop()
    await engine.close()
    throw error
  }
}

/** The rules of a service and its store, for the log. */
export interface Served {
  readonly files: ReturnType<RulesFiles['reports']>
  /** The address of the store without user and password. */
  readonly store: string
}

export function servedBy(keeper: RulesFiles, settings: ServiceSettings): Served {
  const store = settings.store || keeper.store || 'memory'
  return { files: keeper.reports({ store }), store: store.replace(/\/\/[^@]*@/, '//') }
}

/** Opens the engine and loads its rules. */
export function openEngine(settings: ServiceSettings, log: Log, clock?: Clock): { engine: Engine; keeper: RulesFiles } {
  const keeper = new RulesFiles(settings, log, {
    use: rules => engine.use(rules),
    counted: result => engine.metrics.reloaded(result),
  })
  let engine: Engine
  try {
    engine = new Engine(settings, settings.store || keeper.store, log, clock)
  } catch (error) {
    keeper.stop()
    throw error
  }
  engine.use(keeper.current)
  return { engine, keeper }
}

/** The parts that doors need besides a decider, which may be in this process or in another. */
export function backgroundOf(
  log: Log,
  keeper: RulesFiles,
  metrics: Metrics,
  metricsText: () => Awaitable<string>,
): Background {
  let own: ParsedRules['own']
  let site = siteOf(keeper.current)
  return {
    metrics,
    metricsText,
    site() {
      const { current } = keeper
      if (own !== current.own) {
        own = current.own
        site = siteOf(current)
      }
      return site
    },
    descriptorList: () => keeper.descriptorList(),
    onCertificates: error =>
      error === undefined
        ? log.info('the certificates were loaded again')
        : log.warn('the certificates cannot be used, the old ones stay', { error: String(error) }),
    onError: error => log.warn('a request could not be answered', { error: String(error) }),
  }
}
