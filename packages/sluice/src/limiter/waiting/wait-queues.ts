import { toTicks } from '../../clock.ts'
import { andThen, type Maybe } from '../../maybe.ts'
import { type Charge, ENFORCED } from '../../stores/charge.ts'
import { type Intent, LOOK, WAIT } from '../../stores/store.ts'
import type { ChargedDecision } from '../charged-decision.ts'
import { earliestStart, startSeen } from './earliest-start.ts'
import type { TimerQueue } from './timer-queue.ts'
import { type Waiter, WaitList } from './waiter.ts'

/**
 * Asks the store for a waiter, at its own costs or at those given. Returns undefined if the waiter has ended meanwhile;
 * then nothing stays taken for it.
 */
export type AskForWaiter = (
  waiter: Waiter,
  intent: Intent,
  costs?: readonly number[],
) => Maybe<ChargedDecision | undefined>

/** What happens to a waiter that has left its queue. */
export interface WaitOutcome {
  passed(waiter: Waiter, decision: ChargedDecision): void
  /** The wait would be too long: the caller may ask again at that tick or later. */
  refused(waiter: Waiter, until: number): void
}

/**
 * Queues for limits that cannot be booked: windows, slots, several limits at once. Waiters with the same keys share one
 * queue, first come, first served within this process. Only the first asks the store: when its time has come, or when
 * something was given back.
 */
export class WaitQueues {
  private readonly timers: TimerQueue
  private readonly ask: AskForWaiter
  private readonly outcome: WaitOutcome
  private readonly queues = new Map<string, WaitQueue>()
  private readonly byKey = new Map<string, Set<WaitQueue>>()

  constructor(timers: TimerQueue, ask: AskForWaiter, outcome: WaitOutcome) {
    this.timers = timers
    this.ask = ask
    this.outcome = outcome
  }

  /** Adds a waiter. It waits until it passes, and is refused as soon as that would be after its deadline. */
  join(waiter: Waiter, charges: readonly Charge[]): void {
    // It will never pass, so no other waiter must wait behind it.
    if (charges.some(({ role, cost, rule }) => role === ENFORCED && cost > rule.limit)) {
      this.outcome.refused(waiter, 0)
      return
    }
    const keys = charges.map(keyOf)
    const id = keys.map(key => `${key.length}:${key}`).join('')
    let queue = this.queues.get(id)
    if (queue === undefined) {
      queue = new WaitQueue(this.timers, this.ask, this.outcome, () => this.forget(id, keys))
      this.queues.set(id, queue)
      for (const key of keys) this.byKey.set(key, (this.byKey.get(key) ?? new Set()).add(queue))
    }
    queue.join(
      waiter,
      charges.map(({ cost }) => cost),
    )
  }

  /** Something was given back to these keys, so the first waiter of each may pass now. */
  wake(charges: readonly Charge[]): void {
    if (this.queues.size === 0) return
    const queues = new Set<WaitQueue>()
    for (const charge of charges) for (const queue of this.byKey.get(keyOf(charge)) ?? []) queues.add(queue)
    for (const queue of queues) queue.advance()
  }

  private forget(id: string, keys: readonly string[]): void {
    const queue = this.queues.get(id)!
    this.queues.delete(id)
    for (const key of keys) {
      const queues = this.byKey.get(key)
      queues?.delete(queue)
      if (queues?.size === 0) this.byKey.delete(key)
    }
  }
}

class WaitQueue extends WaitList {
  private readonly timers: TimerQueue
  private readonly ask: AskForWaiter
  private readonly outcome: WaitOutcome
  private readonly emptied: () => void
  /** A question is on its way. A second one at the same time could take twice. */
  private isAsking = false
  /** Something was given back while a question was on its way, so a refusal is out of date. */
  private askAgain = false
  /** The tick at which the first waiter asks again; 0 while it is unknown. */
  private turnAt = 0
  /** The charges that refused the first waiter until its turn. */
  private refusing: readonly Charge[] = []
  /** What all waiters cost, limit by limit. */
  private readonly costs: number[] = []
  /** Waiters that came, or ran out of time, while a question was on its way. Its answer says whether they must wait. */
  private unsettled: Set<Waiter> | undefined = undefined

  constructor(timers: TimerQueue, ask: AskForWaiter, outcome: WaitOutcome, emptied: () => void) {
    super()
    this.timers = timers
    this.ask = ask
    this.outcome = outcome
    this.emptied = emptied
  }

  join(waiter: Waiter, costs: readonly number[]): void {
    const before = this.last?.costs
    waiter.costs = before !== undefined && costs.every((cost, i) => cost === before[i]) ? before : costs
    this.append(waiter)
    addTo(this.costs, costs, 1)
    if (this.first === waiter) this.advance()
    else if (this.isAsking) this.settleLater(waiter)
    else this.stay(waiter, this.size - 1, this.costs)
  }

  due(waiter: Waiter): void {
    if (this.first === waiter) this.advance()
    else if (this.isAsking) this.settleLater(waiter)
    else this.refuse(waiter, this.turnAt)
  }

  /** Lets a waiter wait behind `ahead` others, or refuses it. `costs` are the costs of these and its own together. */
  private stay(waiter: Waiter, ahead: number, costs: readonly number[]): void {
    const { deadline, maxWaitTicks, maxQueue } = waiter.request!
    const startsAt = this.turnAt === 0 ? 0 : earliestStart(this.refusing, this.turnAt, costs)
    if (startsAt > deadline || maxWaitTicks === 0 || ahead >= maxQueue) {
      this.refuse(waiter, startsAt)
      return
    }
    if (deadline === Infinity) return
    this.timers.add(waiter, deadline)
    // A fixed window that refused is empty at that turn, so the store would say no more.
    const isFresh = this.refusing.every(({ rule, allowed }) => rule.kind === 'fixed' && !allowed)
    if (this.turnAt > 0 && !isFresh) this.lookAhead(waiter, [...costs])
  }

  /** Asks when a waiter and all before it would pass as one cost, and refuses the waiter if that is too late. */
  private lookAhead(waiter: Waiter, costs: readonly number[]): void {
    const { turnAt } = this
    void andThen(this.ask(waiter, LOOK, costs), decision => {
      if (decision === undefined || waiter.list !== this || this.first === waiter) return
      const startsAt = startSeen(decision.charges, turnAt)
      if (startsAt > waiter.request!.deadline) this.refuse(waiter, startsAt)
    })
  }

  private settleLater(waiter: Waiter): void {
    this.unsettled ??= new Set()
    this.unsettled.add(waiter)
  }

  /** The first waiter must wait, so all others must, too. */
  private settle(first: Waiter): void {
    const { unsettled } = this
    if (unsettled === undefined) return
    this.unsettled = undefined
    unsettled.delete(first)
    let ahead = this.size - unsettled.size
    const costs = [...this.costs]
    for (const waiter of unsettled) addTo(costs, waiter.costs, -1)
    for (const waiter of unsettled) {
      addTo(costs, waiter.costs, 1)
      this.stay(waiter, ahead, costs)
      if (waiter.list === this) ahead++
      else addTo(costs, waiter.costs, -1)
    }
  }

  /**
   * Removes a waiter. The next one asks only in a microtask: if a thousand waiters leave together, none asks in
   * between.
   */
  leave(waiter: Waiter): void {
    const wasFirst = this.first === waiter
    this.remove(waiter)
    if (!wasFirst) return
    this.turnAt = 0
    const next = this.first
    if (next !== undefined) queueMicrotask(() => this.first === next && this.advance())
  }

  /** Lets the first waiter ask, then the next, as long as they pass. */
  advance(): void {
    if (this.isAsking) {
      this.askAgain = true
      return
    }
    for (let first = this.first; first !== undefined; first = this.first) {
      const waiter = first
      this.timers.remove(waiter)
      this.isAsking = true
      this.askAgain = false
      this.turnAt = 0
      const asked = this.ask(waiter, WAIT)
      if (asked instanceof Promise) {
        void asked.then(decision => this.answered(waiter, decision) && this.advance())
        return
      }
      if (!this.answered(waiter, asked)) return
    }
  }

  /** Returns true if the next waiter may ask. */
  private answered(waiter: Waiter, decision: ChargedDecision | undefined): boolean {
    const goesOn = decision === undefined || this.decided(waiter, decision)
    this.isAsking = false
    if (!goesOn) this.settle(waiter)
    this.forgetIfEmpty()
    return goesOn
  }

  private decided(waiter: Waiter, decision: ChargedDecision): boolean {
    const { deadline, maxQueue } = waiter.request!
    if (!decision.allowed && this.askAgain) return true
    if (!decision.allowed && maxQueue > 0) {
      const retryAt = toTicks(decision.at + decision.retryAfterMs)
      // A holder may release its slot early: the slot's expiry is only the latest time to ask again.
      if (toTicks(decision.at) < deadline && mayFreeSooner(decision)) {
        this.timers.add(waiter, Math.min(retryAt, deadline))
        return false
      }
      if (retryAt < Infinity && retryAt <= deadline) {
        this.turnAt = retryAt
        this.refusing = decision.charges
        this.timers.add(waiter, retryAt)
        return false
      }
    }
    this.remove(waiter)
    if (decision.allowed) this.outcome.passed(waiter, decision)
    else waiter.resolve(decision)
    return true
  }

  /** Refuses a waiter whose deadline comes before its turn. It may not overtake, even if its cost alone would pass. */
  private refuse(waiter: Waiter, until: number): void {
    this.remove(waiter)
    this.outcome.refused(waiter, until)
  }

  private remove(waiter: Waiter): void {
    this.timers.remove(waiter)
    this.unsettled?.delete(waiter)
    this.unlink(waiter)
    addTo(this.costs, waiter.costs, -1)
    this.forgetIfEmpty()
  }

  private forgetIfEmpty(): void {
    if (this.first === undefined && !this.isAsking) this.emptied()
  }
}

/** Whether only slots refuse the request: its cost fits the limit, and no block refuses it. */
function mayFreeSooner({ charges, reason }: ChargedDecision): boolean {
  const refusing = charges.filter(charge => charge.role === ENFORCED && !charge.allowed)
  return reason === 'limited' && refusing.every(({ rule }) => rule.kind === 'slots')
}

/** Adds costs to a sum of costs, limit by limit. */
function addTo(sum: number[], costs: readonly number[], sign: 1 | -1): void {
  for (const [i, cost] of costs.entries()) sum[i] = (sum[i] ?? 0) + sign * cost
}

function keyOf(charge: Charge): string {
  return `${charge.limit.space.path}${charge.key}`
}
