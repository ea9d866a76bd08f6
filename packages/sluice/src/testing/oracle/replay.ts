import type { Step } from '../trace.ts'
import type { Oracle, OracleVerdict } from './oracle.ts'

/** An admission that was not refunded later. `at` is the tick it was counted at. */
export interface Admission {
  readonly at: number
  readonly cost: number
}

export interface Replay {
  /** For each step: the verdict of a `consume` or `peek`, undefined for other steps. */
  readonly verdicts: readonly (OracleVerdict | undefined)[]
  /** For each step: the tick it was counted at, which never runs backwards. */
  readonly times: readonly number[]
  readonly admissions: readonly Admission[]
}

/** Plays a trace. Skips the refund of a refused charge. With concurrency a refund releases the slot. */
export function replay(oracle: Oracle, steps: readonly Step[]): Replay {
  const verdicts: (OracleVerdict | undefined)[] = []
  const times: number[] = []
  const admitted = new Map<number, Admission & { acquisition: number }>()
  let acquisitions = 0
  let now = 0

  for (const [index, { at, op, cost, of = -1 }] of steps.entries()) {
    const charge = admitted.get(of)
    // A reset has no time, and a skipped refund is no call, so neither moves the time.
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
