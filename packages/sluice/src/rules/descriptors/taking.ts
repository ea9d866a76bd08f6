import type { Decision, LimitState } from '../../decision.ts'
import type { Limiter } from '../../limiter/limiter.ts'
import type { Maybe } from '../../maybe.ts'
import { batchesOf, type DescriptorHit, type HitBatch, hitIn } from './hit-batch.ts'

/** A batch, and the decision on it. */
export interface Decided {
  readonly batch: HitBatch
  readonly decision: Decision
  /** The decision on each hit of the batch, by counter. */
  readonly states: readonly LimitState[]
}

type BatchLimiter = Limiter<HitBatch, 'sync' | 'async'>

/** Whether the request has quotas and all of them are used up: only then do quotas refuse. */
export function quotasAreOver(decided: readonly Decided[]): boolean {
  let over = false
  for (const { batch, states } of decided) {
    for (const { name, allowed } of states) {
      if (hitIn(batch, name)!.effect !== 'quota') continue
      if (allowed) return false
      over = true
    }
  }
  return over
}

/**
 * Takes all batches or none. Nearly always there is one batch and one call. With several, a refused batch makes it
 * refund the batches before, so no limit admits too much. A decision across several slots of a cluster works the same
 * way.
 */
function takeTogether(limiter: BatchLimiter, batches: readonly HitBatch[]): Maybe<Decided[]> {
  return batches.length === 1 ? takeLone(limiter, batches[0]!) : takeSeveral(limiter, batches, [])
}

/** A refused batch has taken nothing, and reports the state of its limits. */
function takeLone(limiter: BatchLimiter, batch: HitBatch): Maybe<Decided[]> {
  return chain(limiter.consume(batch), decision => {
    const taken = [decidedAs(batch, decision)]
    return decision.allowed && quotasAreOver(taken) ? takeBack(limiter, [batch], taken) : taken
  })
}

function takeSeveral(limiter: BatchLimiter, batches: readonly HitBatch[], taken: Decided[]): Maybe<Decided[]> {
  const batch = batches[taken.length]
  if (batch === undefined) return quotasAreOver(taken) ? takeBack(limiter, batches, taken) : taken
  return chain(limiter.consume(batch), decision => {
    taken.push(decidedAs(batch, decision))
    return decision.allowed ? takeSeveral(limiter, batches, taken) : takeBack(limiter, batches, taken)
  })
}

/** Refunds what was taken, and reads the state without it. */
function takeBack(limiter: BatchLimiter, batches: readonly HitBatch[], decided: readonly Decided[]): Maybe<Decided[]> {
  const refunds = decided.map(({ decision }): Maybe<void> => limiter.refund(decision))
  return chain(all(refunds), () => all(batches.map(batch => asked(batch, limiter.peek(batch)))))
}

/**
 * Takes all hits or none. Hits that may overdraw come last, because they are counted even if they exceed the limit. If
 * one does, the other hits are refunded.
 */
export function takeAll(limiter: BatchLimiter, hits: readonly DescriptorHit[]): Maybe<Decided[]> {
  const late = hits.filter(({ overdraw }) => overdraw)
  if (late.length === 0) return takeTogether(limiter, batchesOf(hits))
  const others = hits.filter(({ overdraw }) => !overdraw)
  if (others.length === 0) return takeApart(limiter, late)
  const batches = batchesOf(others)
  return chain(takeTogether(limiter, batches), taken => {
    if (!passes(taken)) return chain(all(late.map(hit => look(limiter, hit))), looked => [...taken, ...looked])
    return chain(takeApart(limiter, late), charged =>
      passes(charged)
        ? [...taken, ...charged]
        : chain(takeBack(limiter, batches, taken), back => [...back, ...charged]),
    )
  })
}

function passes(decided: readonly Decided[]): boolean {
  return decided.every(({ decision }) => decision.allowed) && !quotasAreOver(decided)
}

/**
 * Takes each hit by itself, as envoyproxy/ratelimit does. It also counts a refused hit, up to one more limit, so that a
 * cost reported late keeps the next callers out.
 */
export function takeApart(limiter: BatchLimiter, hits: readonly DescriptorHit[]): Maybe<Decided[]> {
  return all(hits.map(hit => takeOne(limiter, hit)))
}

function takeOne(limiter: BatchLimiter, hit: DescriptorHit): Maybe<Decided> {
  const batch: HitBatch = [hit]
  const isCounted = hit.overdraw || hit.policy.kind === 'fixedWindow'
  if (isCounted && hit.cost === 0) return look(limiter, hit)
  return chain(asked(batch, limiter.consume(batch)), decided => {
    if (decided.states[0]!.allowed || !isCounted) return decided
    return asked(
      batch,
      chain(limiter.penalize(batch, { cost: hit.cost }) as Maybe<void>, () => limiter.peek(batch)),
    )
  })
}

/** Asks for at least 1: if nothing is left, work whose cost is reported later should not start. */
function look(limiter: BatchLimiter, hit: DescriptorHit): Maybe<Decided> {
  return asked([hit], limiter.peek([{ ...hit, cost: Math.max(1, hit.cost) }]))
}

function asked(batch: HitBatch, answer: Maybe<Decision>): Maybe<Decided> {
  return chain(answer, decision => decidedAs(batch, decision))
}

function decidedAs(batch: HitBatch, decision: Decision): Decided {
  return { batch, decision, states: decision.limits }
}

function chain<T, U>(value: Maybe<T>, next: (value: T) => Maybe<U>): Maybe<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}

function all<T>(values: Maybe<T>[]): Maybe<T[]> {
  return values.some(value => value instanceof Promise) ? Promise.all(values) : (values as T[])
}
