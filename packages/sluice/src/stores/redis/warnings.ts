import { type Clock, systemClock } from '../../clock.ts'
import type { StoreEvent } from '../remote/remote-store.ts'

/**
 * If nothing listens, outages are reported as process warnings, so that none is silent. A primary of a cluster takes
 * many shards with it, so the warning comes once when the first is lost and once when the last is back.
 */
export function warnings(clock: Clock = systemClock): (event: StoreEvent) => void {
  let lost = 0
  let lostAt = 0
  return event => {
    if (event.type === 'eviction') {
      warn(`Redis evicts keys (maxmemory-policy ${event.policy}), and a forgotten key is a fresh quota: use noeviction`)
    } else if (event.type === 'clock-set-back') {
      warn(`the clock of Redis was set back by ${Math.round(event.byMs)} ms: limits go on by the time before`)
    } else if (event.type === 'outage') {
      if (lost++ > 0) return
      lostAt = clock.now()
      warn(`Redis cannot be asked, limits are decided by onOutage: ${event.error.message}`)
    } else if (--lost === 0) {
      warn(`Redis answers again after ${Math.round(clock.now() - lostAt)} ms`)
    }
  }
}

function warn(text: string): void {
  const host = globalThis as { process?: { emitWarning?(text: string): void } }
  if (host.process?.emitWarning !== undefined) host.process.emitWarning(`sluice: ${text}`)
  else console.warn(`sluice: ${text}`)
}
