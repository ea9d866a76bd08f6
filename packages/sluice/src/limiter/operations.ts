import { checkOptions } from '../check-options.ts'
import { TICKS_PER_MS } from '../clock.ts'
import type { Duration } from '../duration.ts'
import { expected, SluiceError } from '../errors.ts'
import { andThen, type Maybe } from '../maybe.ts'
import type { Charge } from '../stores/charge.ts'
import type { Change } from '../stores/store.ts'
import type { Changes } from './changes.ts'
import type { Charging } from './charging.ts'
import { type BoundLimit, blockTicks, checkCost } from './limits.ts'

/** How long a block `'forever'` lasts: a century, which the arithmetic of every store can hold. */
const FOREVER_TICKS = 100 * 366 * 86_400_000 * TICKS_PER_MS

/** An operator's changes to a subject, which no limit can refuse. */
export class Operations<S> {
  private readonly charging: Charging<S>
  private readonly changes: Changes

  constructor(charging: Charging<S>, changes: Changes) {
    this.charging = charging
    this.changes = changes
  }

  credit(subject: S, options: { cost: number }): Maybe<void> {
    const { cost } = checkOptions('refund', options, ['cost'])
    return this.change(this.charging.limits, subject, checkCost(cost), charge => ({ type: 'credit', charge }))
  }

  penalize(subject: S, options: { cost: number }): Maybe<void> {
    const { cost } = checkOptions('penalize', options, ['cost'])
    const penalize = (charge: Charge): Change => ({ type: 'penalize', charge })
    return this.change(this.charging.limits, subject, checkCost(cost), charge => ofRate(charge) && penalize(charge))
  }

  set(subject: S, options: { limit?: string; remaining: number }): Maybe<void> {
    const { limit, remaining } = checkOptions('set', options, ['limit', 'remaining'])
    return this.change([this.charging.named(limit)], subject, checkCost(remaining, 'remaining'), charge => {
      const used = charge.rule.limit - remaining
      if (used < 0) throw expected('SLUICE_BAD_COST', `remaining from 0 to ${charge.rule.limit}`, remaining)
      if (ofRate(charge)) return { type: 'set', charge, used }
      throw expected('SLUICE_NOT_SUPPORTED', 'set of a limit that counts a rate', 'concurrency')
    })
  }

  reset(subject: S, options: { limits?: readonly string[] }): Maybe<void> {
    const { charging } = this
    const named = namedLimits('reset', options, charging)
    const keyed = charging.limits.filter(limit => limit.keyOf !== undefined || limit === charging.only)
    return this.change(named ?? keyed, subject, 0, charge => ({ type: 'reset', charge }))
  }

  block(subject: S, options: { limit?: string; for: Duration | 'forever' }): Maybe<void> {
    const { limit, for: time } = checkOptions('block', options, ['limit', 'for'])
    const bound = this.charging.allNamed(limit)
    const ticks = time === 'forever' ? FOREVER_TICKS : blockTicks(time, 'block({ for })')
    return andThen(
      this.make(bound, subject, 0, charge => ({ type: 'block', charge, ticks })),
      made => {
        if (!made.includes(0)) return
        throw new SluiceError(
          'SLUICE_STORE_FULL',
          `limit '${bound[0]!.name}' has no room for another block: raise maxKeys`,
        )
      },
    )
  }

  unblock(subject: S, options: { limit?: string }): Maybe<void> {
    const { limit } = checkOptions('unblock', options, ['limit'])
    return this.change(this.charging.allNamed(limit), subject, 0, charge => ({ type: 'unblock', charge }))
  }

  private change(limits: readonly BoundLimit<S>[], subject: S, cost: number, changeOf: ChangeOf): Maybe<void> {
    return andThen(this.make(limits, subject, cost, changeOf), () => {})
  }

  private make(limits: readonly BoundLimit<S>[], subject: S, cost: number, changeOf: ChangeOf): Maybe<number[]> {
    return andThen(this.charging.each(limits, subject, cost), charges =>
      this.changes.make(charges.map(changeOf).filter(change => change !== false)),
    )
  }
}

/** The limits that a call names; undefined if it names none. */
export function namedLimits<S>(
  call: string,
  options: { limits?: readonly string[] },
  charging: Charging<S>,
): BoundLimit<S>[] | undefined {
  const { limits } = checkOptions(call, options, ['limits'])
  if (limits === undefined) return undefined
  if (Array.isArray(limits) && limits.length > 0) return [...new Set(limits.flatMap(name => charging.allNamed(name)))]
  throw expected('SLUICE_BAD_OPTION', 'limits as a list of names', limits)
}

/** The change for one charge; false if there is nothing to change. */
type ChangeOf = (charge: Charge) => Change | false

function ofRate({ rule }: Charge): boolean {
  return rule.kind !== 'slots'
}
