import type { Charge } from '../../stores/charge.ts'
import { type Oracle, type OracleVerdict, oracleFor } from '../oracle/oracle.ts'
import type { Step } from '../trace.ts'
import { holds, isSameVerdict, show } from './case.ts'
import { isExact } from './policies.ts'
import { type StoredLimit, showVerdict } from './stored-limit.ts'

/**
 * One key of a limit beside its oracle: every call goes to both, and their answers are compared.
 *
 * A strict witness requires equal answers. A lenient one, for stores that must round or are full, requires the store
 * never to be more generous: it tells the oracle only of what the store admitted.
 */
export class Witness {
  readonly stored: StoredLimit
  readonly key: string
  private readonly oracle: Oracle
  private readonly strict: boolean
  private readonly about: string
  private readonly taken = new Map<number, { charge: Charge; at: number; acquisition: number }>()
  private acquisitions = 0
  private step = -1

  constructor(stored: StoredLimit, key: string, about: string, strict = isExact(stored.policy)) {
    this.stored = stored
    this.key = key
    this.about = about
    this.strict = strict
    this.oracle = oracleFor(stored.policy, { phase: stored.phase(key) })
  }

  /** Plays the next step of a trace. A step before now is played now. */
  async play({ at, op, cost, of = -1 }: Step): Promise<void> {
    this.stored.world.goTo(at)
    this.step++
    switch (op) {
      case 'consume':
        await this.consume(cost)
        return
      case 'peek':
        await this.peek(cost)
        return
      case 'refund':
        await this.refund(of)
        return
      case 'credit':
        // After a credit, two levels that differ by a rounding error may change order.
        if (!this.strict) return
        await this.stored.credit(this.key, cost)
        this.oracle.credit(this.now, cost)
        return
      case 'reset':
        await this.stored.reset(this.key)
        this.oracle.reset()
    }
  }

  async playAll(steps: readonly Step[]): Promise<void> {
    for (const step of steps) await this.play(step)
  }

  async consume(cost: number): Promise<Charge> {
    const charge = await this.stored.consume(this.key, cost)
    const admits = this.strict || charge.allowed
    this.judge('consume', cost, charge, admits ? this.oracle.consume(this.now, cost) : this.oracle.peek(this.now, cost))
    if (charge.allowed) this.taken.set(this.step, { charge, at: this.now, acquisition: this.acquisitions++ })
    return charge
  }

  async peek(cost: number): Promise<Charge> {
    const charge = await this.stored.peek(this.key, cost)
    this.judge('peek', cost, charge, this.oracle.peek(this.now, cost))
    return charge
  }

  /** Refunds what a step took, or with concurrency releases it. */
  async refund(step: number): Promise<void> {
    const taken = this.taken.get(step)
    if (taken === undefined) return
    this.taken.delete(step)
    if (this.oracle.release === undefined) {
      await this.stored.refund(taken.charge)
      this.oracle.refund(this.now, taken.charge.cost, taken.at)
    } else {
      // A refund frees a slot like a release.
      await (step % 2 === 0 ? this.stored.refund(taken.charge) : this.stored.release(taken.charge))
      this.oracle.release(this.now, taken.acquisition)
    }
  }

  private get now(): number {
    return this.stored.world.now
  }

  private judge(op: string, cost: number, got: Charge, expected: OracleVerdict): void {
    const agrees = this.strict ? isSameVerdict(got, expected) : isNoMoreGenerous(got, expected)
    if (agrees) return
    const where = () =>
      `${this.about}, key '${this.key.slice(0, 40)}', policy ${show(this.stored.policy)}, ` +
      `step ${this.step}: ${op} ${cost} at ${this.now}`
    holds(false, `${this.strict ? '' : 'nothing better than '}${showVerdict(expected)}`, showVerdict(got), where)
  }
}

function isNoMoreGenerous(got: OracleVerdict, expected: OracleVerdict): boolean {
  return (
    (expected.allowed || !got.allowed) &&
    got.remaining <= expected.remaining &&
    got.resetAt >= expected.resetAt &&
    (got.allowed || got.retryAt >= expected.retryAt)
  )
}
