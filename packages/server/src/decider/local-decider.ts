import type { Store } from 'sluice'
import { type RlsOptions, rls, rulesLimiter } from 'sluice/rules'
import type { Throttle } from '../resp/throttle/throttle.ts'
import { CurrentRules } from './current-rules.ts'
import type { Decider } from './decider.ts'
import { type ChecksOptions, LocalChecks } from './local-checks.ts'
import { type DescriptorsEvents, type HeaderNames, LocalDescriptors } from './local-descriptors.ts'
import { LocalOperations } from './local-operations.ts'
import { HeldReservations, SealedReservations } from './reservations.ts'

/** The rules from files: in Sluice's own language, and for envoyproxy/ratelimit. */
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
  /** The headers that Envoy adds to its responses; none if undefined. */
  readonly headers?: HeaderNames | undefined
  /** Seals the ids of reservations if processes share the store. */
  readonly secret: string
}

/** Decides in this process. The state is in the store, so that rules can change while it runs. */
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

  /** Uses these rules from now on, or throws `RulesError` and keeps the old ones. */
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
