import type { Figures } from './figures.ts'
import type { Scenario } from './scenario.ts'

/** Decisions that travel in one call. */
const BATCH = 128
/** Latency once the client is connected. */
const RECOVERY_MS = 1000
/** The targets are 30 ms and 1 ms. Time in which the whole process stalls is added, and delays a deadline twice. */
const FIRST_MS = 30 + 50
const OPEN_MS = 1 + 4
/** A busy machine is late now and then, without any fault. */
const STRAY = 0.5
const LATENESS = ['SLUICE_STORE_TIMEOUT', 'SLUICE_STORE_UNREACHABLE']

/** Every law that was broken; empty if all were kept. */
export function violations(scenario: Scenario, figures: Figures): string[] {
  const { bound, decisions, degraded, late, openedMs, recoveryMs, reconnectMs, stallMs, p99Ms } = figures
  const told = (event: string) => figures.events[event] ?? 0
  const reason = figures.reasons.find(code => !LATENESS.includes(code))
  const bounded = !scenario.evicts
  const lasting = scenario.outage === 'lasting'
  const calm = scenario.outage === 'none'
  const wrong: readonly (readonly [boolean, string])[] = [
    [figures.errors > 0, `${figures.errors} callers were thrown at`],
    [bounded && bound.byStore > bound.promised, `the store admitted ${bound.byStore} of ${bound.promised}`],
    [bounded && bound.violation !== undefined, `law 4 is broken: ${bound.violation}`],
    [bound.byOutage > bound.added, `onOutage admitted ${bound.byOutage} of ${bound.added}`],
    [late > BATCH * Math.max(1, told('outage')), `${late} charges landed late, more than a batch for each outage`],
    [late < 0 && !scenario.forgetful, `${-late} charges were forgotten`],
    [calm && degraded > STRAY * decisions, `${degraded} were decided by onOutage`],
    [calm && reason !== undefined, `some were decided by onOutage because of ${reason}`],
    [!calm && degraded === 0, 'nothing was decided by onOutage'],
    [lasting && openedMs === undefined, 'the store was silent about the outage'],
    [lasting && (openedMs ?? 0) > FIRST_MS + 2 * stallMs, `the breaker opened after ${ms(openedMs)}`],
    [told('outage') !== told('recovered'), 'the store was silent about its recovery'],
    [degraded > 0 && !told('degraded'), 'the limits were silent about being degraded'],
    [told('degraded') !== told('restored'), 'the limits were silent about being restored'],
    [scenario.evicts && !told('eviction'), 'the store was silent about eviction'],
    [recoveryMs > scenario.recoversWithinMs, `it took ${ms(recoveryMs)} to recover`],
    [recoveryMs - reconnectMs > RECOVERY_MS, `it took ${ms(recoveryMs - reconnectMs)} to recover once connected`],
    [(p99Ms.first ?? 0) > FIRST_MS + 2 * stallMs, `the first requests took ${ms(p99Ms.first)}`],
    [(p99Ms.open ?? 0) > OPEN_MS + stallMs, `with the breaker open requests took ${ms(p99Ms.open)}`],
  ]
  return wrong.filter(([isWrong]) => isWrong).map(([, what]) => what)
}

function ms(value: number | undefined): string {
  return `${value?.toFixed(1)} ms`
}
