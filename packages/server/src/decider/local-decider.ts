import type { Store } from 'sluice'
import { type RlsOptions, rls, rulesLimiter } from 'sluice/rules'
import type { Throttle } from '../resp/throttle/throttle.ts'
import { CurrentRules } from './current-rules.ts'
import type { Decider } from './decider.ts'
import { type ChecksOptions, LocalChecks } from './local-checks.ts'
import { type DescriptorsEvents, type HeaderNames, LocalDescriptors } from './local-descriptors.ts'
import { LocalOperations } from './local-operations.ts'
import { HeldReservations, SealedReservations } from './reservations.ts'

/** What was read from files: Sluice's own rules, and those for envoyproxy/ratelimit. */
export interface ParsedRules {
  readonly own: unknown
  readonly envoy: readonly unknown[]
}

export interface LocalOptions
  extends ChecksOptions,
    Pick<RlsOptions, 'counting' | 'shadow' | 'mergeDomains' | 'onCounted'> {
  readonly store: Store
  readonly throttle: Throttle
  readonly onEvent: NonNullable<RlsOptions['onEvent']>
  readonly onDescriptors: DescriptorsEvents
  /** Which headers Envoy is told to add to its answers; none without it. */
  readonly headers?: HeaderNames | undefined
  /** Seals the ids of reservations in a store that processes share. */
  readonly secret: string
}

/** Decides in this process. State lives in the store, so that rules can be changed under it. */
export class LocalDecider implements Decider {
  readonly checks: LocalChecks
  readonly operations: LocalOperations
  readonly descriptors: LocalDescriptors
  readonly throttle: Throttle
  private readonly options: LocalOptions
  private readonly rules = new CurrentRules()

  constructor(options: LocalOptions) {
    const { store, metrics, secret, throttle } = options
    const { rules } = this
    const reservations =
      store.mode === 'sync'
        ? new HeldReservations(store.clock)
        : new SealedReservations(secret, saved => rules.loaded.limiter.resume(saved))
    this.options = options
    this.checks = new LocalChecks(rules, reservations, options)
    this.operations = new LocalOperations(rules)
    this.descriptors = new LocalDescriptors(metrics, options.onDescriptors, options.headers)
    this.throttle = throttle
  }

  /** Uses rules from now on, or throws `RulesError` and keeps those it has. */
  use({ own, envoy }: ParsedRules): void {
    const { store, onEvent, counting, shadow, mergeDomains, onCounted, metrics } = this.options
    const rules =
      own === undefined ? undefined : rulesLimiter<'sync' | 'async'>(own, { store, onEvent, ownLists: true })
    const onDecision: RlsOptions['onDecision'] = response => metrics.descriptors(response)
    const options = {
      store,
      onEvent,
      onDecision,
      ...(onCounted && { onCounted }),
      ...(counting && { counting }),
      ...(shadow && { shadow }),
      ...(mergeDomains && { mergeDomains }),
    }
    const descriptors = envoy.length === 0 ? undefined : rls(envoy, options)
    this.rules.replace(rules)
    this.descriptors.replace(descriptors)
  }
}
