import type { Step } from '../trace.ts'
import type { Oracle, OracleVerdict } from './oracle.ts'

/** An admission that was not refunded later, at the time it was counted at. */
export interface Admission {
  readonly at: number
  readonly cost: number
}

export interface Replay {
  /** One a step: the verdict of a `consume` or `peek`, undefined for the others. */
  readonly verdicts: readonly (OracleVerdict | undefined)[]
  /** One a step: the time it was counted at, which never runs backwards. */
  readonly times: readonly number[]
  readonly admissions: readonly Admission[]
}

/** Plays a trace. A refund of a charge that was refused is not even asked for; with concurrency a refund is a release. */
export function replay(oracle: Oracle, steps: readonly Step[]): Replay {
  const verdicts: (OracleVerdict | undefined)[] = []
  const times: number[] = []
  const admitted = new Map<number, Admission & { acquisition: number }>()
  let acquisitions = 0
  let now = 0

  for (const [index, { at, op, cost, of = -1 }] of steps.entries()) {
    const charge = admitted.get(of)
    // A reset carries no time, and a call that is not made moves none.
    if (op !== 'reset' && (op !== 'refund' || charge)) now = Math.max(now, at)
    let verdict: OracleVerdict | undefined
    if (op === 'consume') {
      verdict = oracle.consume(at, cost)
      if (verdict.allowed) admitted.set(index, { at: now, cost, acquisition: acquisitions++ })
    } else if (op === 'peek') {
      verdict = oracle.peek(at, cost)
    } else if (op === 'credit') {
      oracle.credit(at, cost)
    } else if (op === 'reset') {
      oracle.reset()
    } else if (charge) {
      if (oracle.release) oracle.release(at, charge.acquisition)
      else oracle.refund(at, charge.cost, charge.at)
      admitted.delete(of)
    }
    verdicts.push(verdict)
    times.push(now)
  }
  return { verdicts, times, admissions: [...admitted.values()] }
}
