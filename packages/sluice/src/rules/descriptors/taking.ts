import type { Decision, LimitState } from '../../decision.ts'
import type { Limiter } from '../../limiter/limiter.ts'
import type { Maybe } from '../../maybe.ts'
import { type Hit, hitIn, type Wave } from './wave.ts'

/** A wave and what the limiter made of it. */
export interface Decided {
  readonly wave: Wave
  readonly decision: Decision
  /** One for each hit of the wave, by lane. */
  readonly states: readonly LimitState[]
}

type WaveLimiter = Limiter<Wave, 'sync' | 'async'>

/** A quota refuses when there is no other left: are there quotas, and all of them used up? */
export function quotasAreOver(decided: readonly Decided[]): boolean {
  let over = false
  for (const { wave, states } of decided) {
    for (const { name, allowed } of states) {
      if (hitIn(wave, name)!.effect !== 'quota') continue
      if (allowed) return false
      over = true
    }
  }
  return over
}

/**
 * Takes all waves or none. With one wave, as nearly always, that is one call; with more, what was taken is given back
 * where a later one is refused, as it is across the slots of a cluster: nothing is ever over-admitted.
 */
export function takeTogether(limiter: WaveLimiter, waves: readonly Wave[]): Maybe<Decided[]> {
  return waves.length === 1 ? takeLone(limiter, waves[0]!) : takeSeveral(limiter, waves, [])
}

/** Refused, it has taken nothing and says how things stand. */
function takeLone(limiter: WaveLimiter, wave: Wave): Maybe<Decided[]> {
  return chain(limiter.consume(wave), decision => {
    const taken = [decidedAs(wave, decision)]
    return decision.allowed && quotasAreOver(taken) ? takeBack(limiter, [wave], taken) : taken
  })
}

function takeSeveral(limiter: WaveLimiter, waves: readonly Wave[], taken: Decided[]): Maybe<Decided[]> {
  const wave = waves[taken.length]
  if (wave === undefined) return quotasAreOver(taken) ? takeBack(limiter, waves, taken) : taken
  return chain(limiter.consume(wave), decision => {
    taken.push(decidedAs(wave, decision))
    return decision.allowed ? takeSeveral(limiter, waves, taken) : takeBack(limiter, waves, taken)
  })
}

/** Gives back what was taken, and looks at how things stand without it. */
function takeBack(limiter: WaveLimiter, waves: readonly Wave[], decided: readonly Decided[]): Maybe<Decided[]> {
  const refunds = decided.map(({ decision }): Maybe<void> => limiter.refund(decision))
  return chain(all(refunds), () => all(waves.map(wave => asked(wave, limiter.peek(wave)))))
}

/**
 * Takes each hit by itself, whatever becomes of the others, as envoyproxy/ratelimit counts. There a refused hit is
 * counted too: so it fills up what is left of its window.
 */
export function takeApart(limiter: WaveLimiter, hits: readonly Hit[]): Maybe<Decided[]> {
  return all(hits.map(hit => takeOne(limiter, hit)))
}

function takeOne(limiter: WaveLimiter, hit: Hit): Maybe<Decided> {
  const wave: Wave = [hit]
  return chain(asked(wave, limiter.consume(wave)), decided => {
    const { allowed, remaining } = decided.states[0]!
    if (allowed || remaining === 0 || hit.policy.kind !== 'fixedWindow') return decided
    const rest: Wave = [{ ...hit, cost: remaining }]
    return asked(
      wave,
      chain(limiter.consume(rest), () => limiter.peek(wave)),
    )
  })
}

function asked(wave: Wave, answer: Maybe<Decision>): Maybe<Decided> {
  return chain(answer, decision => decidedAs(wave, decision))
}

function decidedAs(wave: Wave, decision: Decision): Decided {
  return { wave, decision, states: decision.limits }
}

function chain<T, U>(value: Maybe<T>, next: (value: T) => Maybe<U>): Maybe<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}

function all<T>(values: Maybe<T>[]): Maybe<T[]> {
  return values.some(value => value instanceof Promise) ? Promise.all(values) : (values as T[])
}
