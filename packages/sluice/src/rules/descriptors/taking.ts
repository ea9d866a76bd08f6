import type { Decision, LimitState } from '../../decision.ts'
import type { Limiter } from '../../limiter/limiter.ts'
import type { Maybe } from '../../maybe.ts'
import { batchesOf, type DescriptorHit, type HitBatch, hitIn } from './hit-batch.ts'

/** A batch and what the limiter made of it. */
export interface Decided {
  readonly batch: HitBatch
  readonly decision: Decision
  /** One for each hit of the batch, by counter. */
  readonly states: readonly LimitState[]
}

type BatchLimiter = Limiter<HitBatch, 'sync' | 'async'>

/** A quota refuses when there is no other left: are there quotas, and all of them used up? */
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
 * Takes all batches or none. With one batch, as nearly always, that is one call; with more, what was taken is given back
 * where a later one is refused, as it is across the slots of a cluster: nothing is ever over-admitted.
 */
function takeTogether(limiter: BatchLimiter, batches: readonly HitBatch[]): Maybe<Decided[]> {
  return batches.length === 1 ? takeLone(limiter, batches[0]!) : takeSeveral(limiter, batches, [])
}

/** Refused, it has taken nothing and says how things stand. */
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

/** Gives back what was taken, and looks at how things stand without it. */
function takeBack(limiter: BatchLimiter, batches: readonly HitBatch[], decided: readonly Decided[]): Maybe<Decided[]> {
  const refunds = decided.map(({ decision }): Maybe<void> => limiter.refund(decision))
  return chain(all(refunds), () => all(batches.map(batch => asked(batch, limiter.peek(batch)))))
}

/**
 * Takes all hits or none; those that overdraw come last, since they are counted even where they go over. One that does
 * gives the others back.
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
 * Takes each hit by itself, whatever becomes of the others, as envoyproxy/ratelimit counts. There a refused hit is
 * counted too, up to one more limit, so that a cost which is told late keeps the next callers out.
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

/** Where nothing is left, nobody should start on work whose cost is told afterwards. */
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
