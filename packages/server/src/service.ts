import type { Clock } from 'sluice'
import type { Decider, Maybe } from './decider/decider.ts'
import type { ParsedRules } from './decider/local-decider.ts'
import { type Doors, openDoors } from './doors.ts'
import { Engine, siteOf } from './engine.ts'
import { Gate } from './http/gate.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import { RulesKeeper } from './rules-keeper.ts'
import type { Settings } from './settings.ts'

export interface Service extends Omit<Doors, 'count'> {
  /** Reads the rules again; false where they are wrong and the old ones stay. */
  reload(): boolean
}

/** One process that decides and speaks all protocols. Comes back when all doors are open. Tests bring a clock. */
export async function startService(settings: Settings, log: Log, clock?: Clock): Promise<Service> {
  const { engine, keeper } = openEngine(settings, log, clock)
  try {
    await engine.connected
    const text = () => {
      doors.count()
      return engine.metricsText()
    }
    const doors: Doors = await openFor(settings, log, keeper, engine.decider, engine.metrics, text)
    return {
      ports: doors.ports,
      reload: () => keeper.reload(),
      async close() {
        keeper.stop()
        await doors.close()
        await engine.close()
      },
    }
  } catch (error) {
    keeper.stop()
    await engine.close()
    throw error
  }
}

/** What decides, with its rules loaded. */
export function openEngine(settings: Settings, log: Log, clock?: Clock): { engine: Engine; keeper: RulesKeeper } {
  const keeper = new RulesKeeper(settings, log, {
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

/** Opens the doors to a decider, be it in this process or in another. */
export function openFor(
  settings: Settings,
  log: Log,
  keeper: RulesKeeper,
  decider: Decider,
  metrics: Metrics,
  metricsText: () => Maybe<string>,
): Promise<Doors> {
  let own: ParsedRules['own']
  let site = siteOf(keeper.current)
  return openDoors(settings, decider, {
    gate: new Gate(settings),
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
    onError: error => log.warn('a request could not be answered', { error: String(error) }),
  })
}
