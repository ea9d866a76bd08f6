import type { Fault } from './fault.ts'

const wrapper = { law: [10], part: 'outages', tests: ['stores/remote/resilient.test.ts'] } as const
const limiter = {
  law: [10],
  part: 'outages',
  tests: ['limiter/outage/outage.test.ts', 'limiter/outage/outage-together.test.ts'],
} as const

/** What stands between a store that fails and the requests. */
export const outageFaults: readonly Fault[] = [
  {
    ...wrapper,
    says: 'the deadline passes unnoticed',
    file: 'stores/remote/deadlines.ts',
    find: 'if (due.length > 0) afterPoll(() => this.expire(due))',
    replace: '',
  },
  {
    ...wrapper,
    says: 'an answer that has arrived is late if the event loop was busy',
    file: 'stores/remote/deadlines.ts',
    find: 'afterPoll(() => this.expire(due))',
    replace: 'this.expire(due)',
  },
  {
    ...wrapper,
    says: 'a deadline takes back what was decided in time',
    file: 'stores/remote/timed-calls.ts',
    find: 'if (isUndecided(charge)) charge.fault = error',
    replace: 'charge.fault = error',
  },
  {
    ...wrapper,
    says: 'the breaker never opens: every request waits for the deadline',
    file: 'stores/remote/breaker.ts',
    find: 'if (this.answeredIn < turn) this.open(error)',
    replace: '',
  },
  {
    ...wrapper,
    says: 'a store with an open breaker is asked all the same',
    file: 'stores/remote/resilient.ts',
    find: 'return this.open === 0 && this.network.connecting === undefined',
    replace: 'return this.network.connecting === undefined',
  },
  {
    ...wrapper,
    says: 'the breaker never closes',
    file: 'stores/remote/breaker.ts',
    find: '() => this.close(),',
    replace: '() => this.probeSoon(),',
  },
  {
    ...wrapper,
    says: 'all processes probe in step',
    file: 'stores/remote/breaker.ts',
    find: 'PROBE_EVERY_MS * (0.5 + random())',
    replace: 'PROBE_EVERY_MS',
  },
  {
    ...wrapper,
    says: 'one dead shard takes all others with it',
    file: 'stores/remote/resilient.ts',
    find: 'const shard = this.network.shardOf(charge)',
    replace: 'const shard = 0',
  },
  {
    ...wrapper,
    says: 'faults of keys open the breaker',
    file: 'stores/remote/timed-calls.ts',
    find: 'if (!OF_THE_KEY.includes(fault.code)) this',
    replace: 'this',
  },
  {
    ...wrapper,
    says: 'a refusal that is repeated from memory is taken for a sign of life',
    file: 'stores/remote/timed-calls.ts',
    find: 'if (charge.cached) continue',
    replace: '',
  },
  {
    ...wrapper,
    says: 'the first connection must stand within the deadline',
    file: 'stores/remote/resilient.ts',
    find: 'return this.open === 0 && this.network.connecting === undefined',
    replace: 'return this.open === 0',
  },
  {
    ...limiter,
    says: 'every process lets the whole limit through',
    file: 'limiter/outage/local-limits.ts',
    find: 'Math.ceil(share * limit - 1e-9)',
    replace: 'limit',
  },
  {
    ...limiter,
    says: 'a local bucket fills as fast as the real one',
    file: 'limiter/outage/local-limits.ts',
    find: '(periodMs * TICKS_PER_MS) / share',
    replace: 'periodMs * TICKS_PER_MS',
  },
  {
    ...limiter,
    says: 'every outage starts with a fresh share',
    file: 'limiter/outage/outage.ts',
    find: 'this.local ??= ',
    replace: 'this.local = ',
  },
  {
    ...limiter,
    says: "'closed' lets pass",
    file: 'limiter/outage/outage.ts',
    find: 'charge.allowed = open && !tooMuch',
    replace: 'charge.allowed = !tooMuch',
  },
  {
    ...limiter,
    law: [2, 10],
    says: 'what the store took for a request refused without it is kept',
    file: 'stores/coordinator.ts',
    find: 'if (unearned.length > 0) return',
    replace: 'if (unearned.length < 0) return',
  },
]
