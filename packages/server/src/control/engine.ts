import { randomBytes } from 'node:crypto'
import type { Clock, MemoryStore } from 'sluice'
import { addressRanges, clientAddress } from 'sluice/http'
import { type RuleLimit, type Rules, readRules } from 'sluice/rules'
import { LocalDecider, type ParsedRules } from '../decider/local-decider.ts'
import type { DecideSite } from '../http/routes/decide.ts'
import { Metrics, type Readings } from '../metrics/metrics.ts'
import { memoryThrottle } from '../resp/throttle/memory-throttle.ts'
import { storeThrottle } from '../resp/throttle/store-throttle.ts'
import type { ServiceSettings } from '../settings.ts'
import { shown } from '../shown.ts'
import type { Log } from './log.ts'
import { type OpenStore, storeFrom } from './store-from.ts'

/** At most this many warnings about callers' requests are logged, each once. */
const MOST_TOLD = 100

/** Not logged: reloaded rules share counts with the old ones on purpose, and `serve` logs the warnings of `check`. */
const EXPECTED_WARNINGS: readonly string[] = ['SLUICE_SAME_NAME', 'SLUICE_SMALL_SLIDING_WINDOW']

/** The deciding part of a service: a store, the rules over it, and their metrics. */
export class Engine {
  readonly decider: LocalDecider
  readonly metrics = new Metrics()
  private readonly opened: OpenStore
  private outages = 0

  constructor(settings: ServiceSettings, address: string, log: Log, clock?: Clock) {
    const onOutage = (event: { type: string; error?: { code: string } }) => {
      if (event.type === 'outage') {
        this.outages++
        this.metrics.storeError('redis', event.error?.code ?? 'unknown')
      }
      if (event.type === 'recovered') this.outages = Math.max(0, this.outages - 1)
      log.warn(`store: ${event.type}`, { ...event, error: event.error?.code })
    }
    const told = new Set<string>()
    const warn = (text: string) => {
      if (told.size >= MOST_TOLD || told.has(text)) return
      told.add(text)
      log.warn(text)
    }
    const onOverflow = () => log.warn('the store is full: new keys are counted together in pooled buckets')
    this.opened = storeFrom(address, onOutage, onOverflow, clock)
    const { store, kind } = this.opened
    this.decider = new LocalDecider({
      store,
      throttle: kind === 'memory' ? memoryThrottle({ clock: store.clock }) : storeThrottle(store),
      secret: settings.secret || randomBytes(32).toString('hex'),
      counting: settings.counting as 'together' | 'apart',
      shadow: settings.shadow === 'on',
      mergeDomains: settings.mergeDomains === 'on',
      metrics: this.metrics,
      headers: headersOf(settings),
      ...(settings.envoyStats === 'on' && { onCounted: counted => this.metrics.envoy(counted) }),
      onDescriptors: {
        noRules: () =>
          warn('Envoy sent a request, but no rules for Envoy are loaded: start with --envoy <file or folder>'),
        unknownDomain: domain =>
          warn(`Envoy asked about domain ${shown(domain)}, which no file has: it is not limited`),
      },
      onNothingApplied: attributes => {
        const names = [...attributes].sort().join(', ') || 'no attributes'
        warn(`no limit applies to a check with ${names}: see sluice explain`)
      },
      onEvent: event => {
        if (event.type === 'warning') {
          if (!EXPECTED_WARNINGS.includes(event.code)) log.warn(event.message, { code: event.code })
        } else if (event.type !== 'nothing-applied') log.warn(`limiter: ${event.type}`, { limiter: event.limiter })
      },
    })
  }

  use(parsed: ParsedRules): void {
    this.decider.use(parsed)
  }

  /** Resolves when the store is ready, or when the wait for it has timed out. */
  get connected(): Promise<void> {
    return this.opened.connected
  }

  /** Whether other processes keep their counts in the same store. */
  get isShared(): boolean {
    return this.opened.kind !== 'memory'
  }

  metricsText(): string {
    return this.metrics.text(this.readings())
  }

  readings(): Readings {
    const { store, kind } = this.opened
    const throttle = this.decider.throttle.stats()
    const memory = kind === 'memory' ? (store as MemoryStore).stats() : undefined
    return {
      activeKeys: (memory?.keys ?? 0) + (throttle?.keys ?? 0),
      holds: memory?.holds ?? 0,
      overflowed: (memory?.overflowed ?? 0) + (throttle?.overflowed ?? 0),
      breakerOpen: this.outages > 0,
      shadows: this.decider.operations.shadows(),
    }
  }

  close(): Promise<void> {
    return this.opened.close()
  }
}

function headersOf({ responseHeaders, limitHeader, remainingHeader, resetHeader }: ServiceSettings) {
  if (responseHeaders === 'off') return undefined
  return { limit: limitHeader, remaining: remainingHeader, reset: resetHeader }
}

/** The parts of the rules that the decision endpoint needs. */
export function siteOf(parsed: ParsedRules): DecideSite {
  const rules: Rules | undefined = parsed.own === undefined ? undefined : readRules(parsed.own)
  const trustProxy = rules?.trustedProxies ?? ['loopback']
  // The decision endpoint listens on TCP only, so every peer has an address.
  const isRange = (range: string) => range !== 'unix'
  const ranges =
    typeof trustProxy === 'number' ? undefined : addressRanges(trustProxy.filter(isRange), 'trusted_proxies')
  const limits: readonly RuleLimit[] = rules?.limits ?? []
  return {
    clientAddress: clientAddress({ trustProxy }),
    trusts: peer => (ranges === undefined ? (trustProxy as number) > 0 : peer !== undefined && ranges.has(peer)),
    limits,
  }
}
